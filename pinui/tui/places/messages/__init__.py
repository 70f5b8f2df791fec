"""Messages: recipients and threads."""
