"""Other ways to fill a passage store, each in a virtual environment of its own. See `benchmarks/ingest.py`."""
