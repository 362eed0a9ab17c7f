"""Filling a passage store: load, split, embed, upsert, all at once."""
