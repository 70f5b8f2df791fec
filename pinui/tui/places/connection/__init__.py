"""Connection: profiles, tokens and tests; the wizard that sets a service up."""
