"""The tables of the database, as the newest migration leaves them (`migrations/`; a test compares them)."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

# Times are ISO 8601 texts in UTC: they sort by time, and read the same from every database.

evenings = Table(
    "evenings",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("code", String(8), nullable=False, unique=True),
    Column("version", Integer, nullable=False),
    Column("name", String(80), nullable=False),
    Column("rules", String(40), nullable=False),
    Column("finished", Boolean, nullable=False),
    Column("begun", String(32), nullable=False),
    Column("changed", String(32), nullable=False),
)
"""One row a table. `version` is the number of its last entry; the rest is a copy, to list past evenings."""

entries = Table(
    "entries",
    metadata,
    Column("evening", String(32), ForeignKey("evenings.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("key", String(64), nullable=False),
    Column("by", String(32), nullable=False),
    Column("at", String(32), nullable=False),
    Column("action", Text, nullable=False),
    UniqueConstraint("evening", "key", name="entries_key"),
)
"""The journals. Rows are only ever added."""

photos = Table(
    "photos",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("evening", String(32), ForeignKey("evenings.id", ondelete="CASCADE"), nullable=False),
    Column("round", Integer, nullable=False),
    Column("seat", Integer),
    Column("by", String(32), nullable=False),
    Column("at", String(32), nullable=False),
    Column("jpeg", LargeBinary, nullable=False),
    Index("photos_evening", "evening"),
)

secrets = Table(
    "secrets",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("value", String(128), nullable=False),
)
"""What all server processes must share."""

tries = Table(
    "tries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("who", String(32), nullable=False),
    Column("at", Integer, nullable=False),
    Index("tries_who", "who", "at"),
)
"""Wrong codes and other things that nobody may do too often: who (a keyed hash) and when (seconds since
1970)."""
