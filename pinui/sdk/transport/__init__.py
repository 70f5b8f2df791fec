"""Sending requests: the HTTP engine, limits on waiting, redirects, retries and rate limits."""
