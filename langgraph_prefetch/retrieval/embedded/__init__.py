"""A PostgreSQL with pgvector of the user's own, out of a wheel. Needs the extra ``embedded``."""
