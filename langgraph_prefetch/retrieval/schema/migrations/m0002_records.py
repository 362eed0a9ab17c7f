"""What was ingested completely, and LangChain's records of what it indexed."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# A document that lost or changed a row, by whoever's hand, is one to be ingested again.
FORGET_SOURCES = """
create function {schema}.prefetch_forget_sources() returns trigger language plpgsql as $body$
begin
  if tg_op = 'TRUNCATE' then
    delete from {schema}.prefetch_sources where collection = tg_argv[0]::bigint;
  else
    delete from {schema}.prefetch_sources as known using (select distinct tenant, source from gone) as changed
    where known.collection = tg_argv[0]::bigint and known.tenant = changed.tenant and known.source = changed.source;
  end if;
  return null;
end
$body$
"""


def upgrade() -> None:
    """Make both tables, and the function of the triggers that each collection's table gets."""
    name = op.get_context().opts["schema"]
    schema = op.get_bind().dialect.identifier_preparer.quote_schema(name)
    key = sa.Text(collation="C")
    # No foreign key, whose check of each row would take longer than the row; a collection's number is never used again.
    op.create_table(
        "prefetch_sources",
        sa.Column("collection", sa.BigInteger, primary_key=True),
        sa.Column("tenant", key, primary_key=True),
        sa.Column("source", key, primary_key=True),
        sa.Column("fingerprint", sa.LargeBinary, nullable=False),
        schema=name,
    )
    op.execute(sa.text(FORGET_SOURCES.format(schema=schema).replace(":", r"\:")))
    op.create_table(
        "prefetch_records",
        sa.Column("namespace", key, primary_key=True),
        sa.Column("key", key, primary_key=True),
        sa.Column("group_id", key),
        sa.Column("updated_at", sa.Double, nullable=False),
        schema=name,
    )
    op.create_index("prefetch_records_group", "prefetch_records", ["namespace", "group_id"], schema=name)
