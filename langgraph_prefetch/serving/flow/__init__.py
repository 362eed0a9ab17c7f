"""A flow: what an agent consists of, and what was measured of it."""
