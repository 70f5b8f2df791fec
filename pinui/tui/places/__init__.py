"""The five places, one folder each: screen, keys, styles and words together."""
