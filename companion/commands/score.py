"""`companion score`: judge hands, from a file of documents or typed on the command line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from companion import analyse, rules
from companion.hand import SOURCES, Hand, HandError
from companion.pieces import format_pieces
from companion.result import Result, amount
from companion.rules.base import Setting, Value


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "score",
        help="judge hands: win, waits, melds, score",
        description="Judge hands. Without --rules: hand documents, one JSON object a line, become result "
        "documents, one a line and in order. With --rules: one hand, typed, judged for people.",
        epilog='Example: companion score --rules sichuan "123456m 3467899p" --win 2p --from wall --void s. '
        "Exit status 1 when a hand could not be judged.",
    )
    parser.add_argument(
        "source",
        nargs="*",
        metavar="FILE|PIECES",
        help="a file of hand documents (- or nothing: standard input); with --rules the concealed pieces",
    )
    parser.add_argument("--json", action="store_true", help="with --rules: print the result document")
    typed = parser.add_argument_group("a typed hand")
    typed.add_argument("--rules", metavar="NAME", help=f"rule set: {', '.join(rules.RULE_SETS)}")
    typed.add_argument(
        "--meld",
        action="append",
        default=[],
        metavar="TEXT",
        help='a meld laid down: "pung 222s", "kong 1111m", "concealed kong 1111m"; may be repeated',
    )
    typed.add_argument("--win", metavar="PIECE", help="the piece it was won with (not among PIECES)")
    typed.add_argument(
        "--from", dest="source_of_win", choices=SOURCES, default="discard", help="where that came from"
    )
    typed.add_argument("--bonus", default="", metavar="PIECES", help="flowers laid aside")
    typed.add_argument("--void", metavar="SUIT", help="the void suit: short for --context void=SUIT")
    typed.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a house rule")
    typed.add_argument(
        "--context", action="append", default=[], metavar="NAME=VALUE", help="a fact about the win"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.rules is not None:
        return _score_typed(args)
    if len(args.source) > 1:
        print("companion score: one FILE, or --rules NAME with pieces", file=sys.stderr)
        return 2
    path = args.source[0] if args.source else "-"
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb") as lines:
            failed = _score_lines(lines)
    except OSError as error:
        hint = " (a typed hand needs --rules NAME)" if isinstance(error, FileNotFoundError) else ""
        print(f"companion score: {path}: {error.strerror or error}{hint}", file=sys.stderr)
        return 1
    return 1 if failed else 0


def _score_lines(lines: BinaryIO) -> bool:
    """Print the result of every line that is not blank; whether any was bad."""
    failed = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            answer = analyse(read_hand(line)).to_document()
        except HandError as error:
            failed = True
            answer = error_document(error, f"line {number}")
        print(json.dumps(answer))
    return failed


def read_hand(line: bytes) -> Hand:
    """The hand of one line of JSON; raises `HandError` for whatever is wrong with it.

    >>> read_hand(b'{"rules": "sichuan", "rules": "fujian", "concealed": "1m"}')
    Traceback (most recent call last):
    ...
    companion.hand.HandError: the key 'rules' stands twice
    """
    try:
        document = json.loads(
            line.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except UnicodeDecodeError as error:
        raise HandError(f"not UTF-8: byte {error.start + 1} is {line[error.start]:#04x}", "") from None
    except json.JSONDecodeError as error:
        raise HandError(f"not JSON: {error.msg}, column {error.colno}", "") from None
    except RecursionError:
        raise HandError("not a hand document: nested too deeply", "") from None
    except HandError:
        raise
    except ValueError:  # a number with more digits than Python reads
        raise HandError("not a hand document: a number is too long", "") from None
    return Hand.from_document(document)


def error_document(error: HandError, where: str = "") -> dict[str, Any]:
    """``{"error": {"message", "where"}}``; `where` stands in when the error names no part of the hand."""
    return {"error": {"message": error.message, "where": error.where or where}}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise HandError(f"the key {key[:40]!r} stands twice", "")
        fields[key] = value
    return fields


def _no_constant(name: str) -> NoReturn:
    raise HandError(f"not JSON: {name} is no number", "")


def _score_typed(args: argparse.Namespace) -> int:
    try:
        hand = _typed_hand(args)
        result = analyse(hand)
    except HandError as error:
        if args.json:
            print(json.dumps(error_document(error)))
        else:
            print(f"companion score: {error}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps(result.to_document()))
    else:
        print("\n".join(report(hand, result)))
    return 0


def _typed_hand(args: argparse.Namespace) -> Hand:
    rule_set = rules.get(args.rules)
    document: dict[str, Any] = {"rules": args.rules, "concealed": " ".join(args.source), "bonus": args.bonus}
    document["melds"] = [_typed_meld(text) for text in args.meld]
    if args.win is not None:
        document["winning"] = {"piece": args.win, "from": args.source_of_win}
    context = args.context + ([] if args.void is None else [f"void={args.void}"])
    document["options"] = typed_settings(args.option, rule_set.options, "options")
    document["context"] = typed_settings(context, rule_set.context, "context")
    return Hand.from_document(document)


def typed_settings(texts: Iterable[str], settings: Iterable[Setting], where: str) -> dict[str, Value]:
    """The values that people give as ``NAME=VALUE``. Raises `HandError` for a wrong value, not for an unknown
    name: `RuleSet.check_settings` tells which there are.
    """
    by_name = {setting.name: setting for setting in settings}
    values: dict[str, Value] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise HandError(f"NAME=VALUE expected, not {text[:40]!r}", where)
        values[name] = by_name[name].parse(value, f"{where}.{name}") if name in by_name else value
    return values


def _typed_meld(text: str) -> dict[str, Any]:
    words = text.split()
    concealed = words[:1] == ["concealed"]
    kind, *pieces = words[concealed:] or [""]
    return {"kind": kind, "pieces": " ".join(pieces), "concealed": concealed}


def report(hand: Hand, result: Result) -> Iterator[str]:
    """The result for people, line by line."""
    rule_set = rules.get(hand.rules)
    status = result.status.replace("-", " ").capitalize()
    if result.status == "building" and result.shanten is not None:
        status += f", {result.shanten} from ready"
    if result.score:
        status += f": {amount(result.score.total, result.score.unit)}"
    yield status
    if result.score:
        for item in result.score.items:
            times = f" x {item.count}" if item.count > 1 else ""
            yield f"  {item.value:>3}  {rule_set.item_names[item.name]} ({item.name}){times}"
        if extra := result.score.extra.items():
            yield "  " + ", ".join(f"{rule_set.score_fields[name]} {value}" for name, value in extra)
    for wait in result.waits:
        worth = f"{amount(wait.total, rule_set.unit)}, " if wait.status == "won" else f"{wait.status}, "
        yield f"  waits for {wait.piece} ({wait.piece.name}): {worth}{_times(wait.left)} left"
    for advice in result.advice:
        pieces = ", ".join(f"{piece} ({left})" for piece, left in advice.pieces)
        after = "ready" if advice.shanten == 0 else f"{advice.shanten} from ready"
        yield f"  discard {advice.discard}: {after}, {_times(advice.left)} help: {pieces or 'none'}"
    yield "Stands as: " + _groups(meld.pieces for meld in result.arrangement)
    yield "Melds in hand: " + _groups(meld.pieces for meld in result.legal_melds)
    for note in result.notes:
        yield f"Note: {note}"
    settings = rule_set.settings(hand.options)
    yield "House rules: " + ", ".join(f"{name} {value}" for name, value in settings.items())
    if rule_set.readings:
        yield "Read so where the written rules are unclear: " + " ".join(rule_set.readings)


def _groups(groups: Iterable[Any]) -> str:
    return ", ".join(format_pieces(group) for group in groups) or "none"


def _times(count: int) -> str:
    return f"{count} piece{'' if count == 1 else 's'}"
