"""Files: upload, download, and the transfers that run."""
