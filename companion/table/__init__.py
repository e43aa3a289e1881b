"""The live table: an evening's journal, what it adds up to, and where it is kept.

`actions` are what people do, `replay` turns a journal of them into a `State`, `settle`, `statistics` and
`export` answer questions about it. All of that is plain data and knows no database; `store` keeps journals.

The journal is only ever added to. Editing, deleting and undoing are entries as well: the past stays readable,
and what counts is always the replay of everything.
"""
