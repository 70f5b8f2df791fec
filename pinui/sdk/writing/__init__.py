"""What goes up: sources, multipart bodies, and the CID that an upload must get."""
