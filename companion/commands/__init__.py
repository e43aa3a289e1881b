"""The command line, one module a command.

Each module offers `add_parser(subparsers)`, which describes the command and sets `run` as its default, and
`run(args) -> int`, which does it and gives the exit status. A module imports nothing heavy at its top:
`companion --help` and `companion score` must not wait for OpenCV, ONNX Runtime or Flask.
"""
