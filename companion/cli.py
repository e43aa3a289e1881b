"""The `companion` command: `companion COMMAND --help` explains each part.

Exit status: 0 all well; 1 some input could not be read or judged (the message says which); 2 wrong use of the
command line; 69 something the program needs is missing from this computer; 70 a fault of the program itself;
130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

COMMANDS = ("read", "watch", "teach", "score", "serve", "evaluate", "bench", "load")
"""Every command, in the order `companion --help` lists them; each is a module of `companion.commands`."""

EX_UNAVAILABLE = 69
EX_SOFTWARE = 70
EX_INTERRUPTED = 130


def program_version() -> str:
    """The installed version, or `0+source` when run from a folder that was never installed."""
    try:
        return version("table-companion")
    except PackageNotFoundError:
        return "0+source"


def build_parser() -> argparse.ArgumentParser:
    """The whole command line. Loads every command's description, none of what the commands need to run."""
    parser = argparse.ArgumentParser(
        prog="companion",
        description="From a photo of mahjong tiles to melds, win status and score.",
        epilog="Start with `companion serve`: a page opens with a sample photo.",
    )
    parser.add_argument("--version", action="version", version=f"companion {program_version()}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in COMMANDS:
        importlib.import_module(f"companion.commands.{name}").add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (see the module's text)."""
    for stream in (sys.stdout, sys.stderr):
        # A file name that is no valid text, or a terminal without Unicode, must not end the program.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        parser = build_parser()
        args = parser.parse_args(argv)
        if "run" not in args:
            parser.print_help()
            return 2
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`| head`) has gone. Python would complain again at closing stdout: give it another.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return EX_INTERRUPTED
    except Exception as error:
        if os.environ.get("COMPANION_DEBUG"):
            raise
        print(f"companion: {_explain(error)}", file=sys.stderr)
        return EX_UNAVAILABLE if isinstance(error, ImportError) else EX_SOFTWARE
    return status


def _explain(error: Exception) -> str:
    """One line for people about an error that no command expected."""
    text = " ".join(str(error).split())
    if isinstance(error, ImportError):
        return text
    kind = type(error).__name__
    return f"this should not have happened ({kind}: {text}). COMPANION_DEBUG=1 shows where."
