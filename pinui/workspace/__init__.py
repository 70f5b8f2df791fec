"""What this machine remembers: paths, profiles, credentials, history and transfers, tied to a `Client`."""
