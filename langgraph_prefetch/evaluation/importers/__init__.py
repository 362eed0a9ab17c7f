"""Reads other people's traces: what the model streamed, which tools it called, and when, as far as it was recorded."""
