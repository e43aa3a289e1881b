"""How the database came to its present shape, step by step (Alembic).

`companion.table.store` runs the steps when it opens a database.
"""
