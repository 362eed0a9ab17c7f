"""Replay of near misses: what bounded serving, and others' ways, would have answered on recorded runs."""
