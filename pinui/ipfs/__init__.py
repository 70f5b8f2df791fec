"""Content addressing, pure and without I/O: CIDs, dag-pb, UnixFS, CAR, verification, JSON as it is stored."""
