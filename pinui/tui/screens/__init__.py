"""The places, the wizard and the dialogs."""
