"""Groups of records of any length: an entry of an index has no room for a long URL, but for a number that tells it."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

GROUP = "hashtextextended(group_id, 0)"


def upgrade() -> None:
    """Make the index on numbers instead of the one on texts."""
    name = op.get_context().opts["schema"]
    op.drop_index("prefetch_records_group", "prefetch_records", schema=name)
    op.create_index("prefetch_records_groups", "prefetch_records", ["namespace", sa.text(GROUP)], schema=name)
