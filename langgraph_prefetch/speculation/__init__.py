"""Run the likely search early, and answer with it."""
