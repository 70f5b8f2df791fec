"""Reading by CID through gateways: which one is asked, what proves its answer, and where the bytes go."""
