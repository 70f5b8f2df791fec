"""The terminal workbench, made with Textual."""
