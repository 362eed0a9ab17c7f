"""The schema's steps, numbered, one file each.

A step that was released is never edited, renamed or removed: databases have run it. What must change, changes in the
next number. ``tests/retrieval/store/migrations.sha256`` holds every step to that. A step is told which PostgreSQL
schema it works in by ``op.get_context().opts["schema"]``.
"""
