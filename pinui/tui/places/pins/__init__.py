"""Pins: the pins of the profile in use, with a detail and preview pane."""
