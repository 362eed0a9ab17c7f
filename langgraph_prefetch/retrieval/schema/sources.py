"""The statement that every writer of a collection begins with."""

FORGET_SOURCES = """
delete from {schema}.prefetch_sources as known using (
  select collection, tenant, source from {schema}.prefetch_sources
  where collection = %s and tenant = %s and source = any(%s::text[]) order by source for update
) as locked
where known.collection = locked.collection and known.tenant = locked.tenant and known.source = locked.source
"""
"""Documents are no longer complete: (collection, tenant, sources); ``{schema}`` stands for its name as written in SQL.

They are locked in the order of their names, before any passage is, so that writers wait for each other instead of
locking each other out.
"""
