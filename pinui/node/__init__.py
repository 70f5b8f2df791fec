"""The embedded pinning node: the provider's HTTP API and a gateway, on loopback."""
