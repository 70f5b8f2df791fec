"""Storage services, one file each."""
