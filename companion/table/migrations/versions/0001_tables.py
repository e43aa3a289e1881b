"""The first shape: evenings, their journals and photos, shared secrets, wrong codes."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "evenings",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("code", sa.String(8), nullable=False, unique=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("rules", sa.String(40), nullable=False),
        sa.Column("finished", sa.Boolean, nullable=False),
        sa.Column("begun", sa.String(32), nullable=False),
        sa.Column("changed", sa.String(32), nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column(
            "evening", sa.String(32), sa.ForeignKey("evenings.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("by", sa.String(32), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.UniqueConstraint("evening", "key", name="entries_key"),
    )
    op.create_table(
        "photos",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("evening", sa.String(32), sa.ForeignKey("evenings.id", ondelete="CASCADE"), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("seat", sa.Integer),
        sa.Column("by", sa.String(32), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("jpeg", sa.LargeBinary, nullable=False),
    )
    op.create_index("photos_evening", "photos", ["evening"])
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("value", sa.String(128), nullable=False),
    )
    op.create_table(
        "tries",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("who", sa.String(32), nullable=False),
        sa.Column("at", sa.Integer, nullable=False),
    )
    op.create_index("tries_who", "tries", ["who", "at"])


def downgrade() -> None:
    for name in ("tries", "secrets", "photos", "entries", "evenings"):
        op.drop_table(name)
