"""Alembic's way in: runs the steps on the connection that `companion.table.store.migrate` hands over."""

from alembic import context

from companion.table.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
