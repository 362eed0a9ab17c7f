"""The registry of collections, and the epoch that moves when one changes."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# Drawn from one sequence, so that a collection dropped and made again never comes by an epoch it had before.
EPOCH_MOVES = """
create function {schema}.prefetch_epoch_moves() returns trigger language plpgsql as $body$
begin
  update {schema}.prefetch_collections set epoch = nextval('{schema}.prefetch_epochs') where id = tg_argv[0]::bigint;
  return null;
end
$body$
"""


def upgrade() -> None:
    """Make the registry, the sequence of epochs and the trigger's function."""
    name = op.get_context().opts["schema"]
    schema = op.get_bind().dialect.identifier_preparer.quote_schema(name)
    op.execute(sa.text(f"create sequence {schema}.prefetch_epochs"))
    op.create_table(
        "prefetch_collections",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("dimensions", sa.Integer, sa.CheckConstraint("dimensions > 0"), nullable=False),
        sa.Column("metric", sa.Text, nullable=False),
        sa.Column("storage", sa.Text, nullable=False),
        sa.Column("text_search", sa.Text),
        sa.Column("embedder", sa.Text),
        sa.Column(
            "epoch", sa.BigInteger, nullable=False, server_default=sa.text(f"nextval('{schema}.prefetch_epochs')")
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.CheckConstraint("metric in ('cosine', 'l2', 'inner_product')"),
        sa.CheckConstraint("storage in ('vector', 'halfvec')"),
        schema=name,
    )
    op.execute(sa.text(EPOCH_MOVES.format(schema=schema)))
