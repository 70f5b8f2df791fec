"""JSON: store and retrieve documents."""
