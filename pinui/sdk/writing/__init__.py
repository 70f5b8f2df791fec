"""Uploads: sources, multipart bodies, and prediction of the CID."""
