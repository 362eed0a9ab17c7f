"""A passage store on PostgreSQL and pgvector."""
