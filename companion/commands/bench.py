"""`companion bench`: how fast this computer judges hands and reads photos, and what memory that takes."""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

from companion import Hand, Meld, Piece, Winning, analysis, parse_pieces
from companion.installed import readable_decks
from companion.rules import RULE_SETS

SECTIONS = ("engine", "vision", "server")

GOALS_US: dict[str, float] = {
    "shanten": 10,
    "win test": 6,
    "full score": 50,
    "waits with value": 300,
    "advice": 1000,
}
"""Median microseconds a Sichuan hand may take."""

CARD_GOALS_US: dict[str, dict[str, float]] = {
    "fujian": {"arrangement and score": 200, "waits with value": 20_000, "whole analysis": 20_000},
    "guangshui": {"arrangement and score": 1000, "waits with value": 20_000, "whole analysis": 20_000},
}
"""Median microseconds a hand of a card game may take."""

LOAD_GOAL_MS = 100.0

SEED = 13


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bench",
        help="measure how fast hands are judged and photos are read",
        description="Measure how fast this computer judges hands (engine) and reads photos (vision), and how "
        "much memory a server takes that reads photos for several visitors at once (server).",
    )
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; all by default"
    )
    parser.add_argument(
        "--hands", type=int, default=1000, help="hands of each kind to judge (default: %(default)s)"
    )
    parser.add_argument(
        "--photos", type=int, default=24, help="photos to send to the server (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    sections = args.sections or SECTIONS
    for section in sections:
        if section not in SECTIONS:
            print(
                f"companion bench: unknown section {section!r}; known: {', '.join(SECTIONS)}", file=sys.stderr
            )
            return 2
    if args.hands < 1:
        print("companion bench: --hands must be at least 1", file=sys.stderr)
        return 2
    if args.photos < 1:
        print("companion bench: --photos must be at least 1", file=sys.stderr)
        return 2
    document: dict[str, Any] = {}
    if "engine" in sections:
        document["engine"] = engine(args.hands) | {"cards": cards(max(args.hands // 4, 1))}
    if "vision" in sections:
        document["vision"] = vision()
    if "server" in sections:
        from web.bench import BenchError, measure  # late: hands are judged without Flask

        try:
            document["server"] = measure(args.photos).to_document()
        except BenchError as error:
            print(f"companion bench: {error}", file=sys.stderr)
            return 1
    print(json.dumps(document) if args.json else "\n".join(_report(document)))
    return 0


def engine(count: int) -> dict[str, Any]:
    """Judge `count` seeded hands of each kind, first cold (each hand for the first time), then warm.

    Times are microseconds per hand, from a `Hand` object.
    """
    from companion.rules import suits

    started = time.perf_counter()
    suits.load()
    load_ms = (time.perf_counter() - started) * 1000
    rng = random.Random(SEED)
    won = [won_hand(rng) for _ in range(count)]
    ready = [Hand(hand.rules, hand.concealed, hand.melds, context=hand.context) for hand in won]
    held = [worse(rng, hand) for hand in ready]
    drawn = [
        Hand(h.rules, h.concealed, h.melds, Winning(_draw(rng, h), "wall"), context=h.context) for h in held
    ]
    jobs: list[tuple[str, Callable[[Hand], Any], Sequence[Hand]]] = [
        ("shanten", analysis.shanten, held),
        ("win test", analysis.is_complete, won),
        ("full score", analysis.score, won),
        ("waits with value", analysis.waits, ready),
        ("advice", analysis.advice, drawn),
        ("whole analysis", analysis.analyse, [*won, *ready, *drawn]),
    ]
    rows = [
        {
            "what": what,
            "goal_us": GOALS_US.get(what),
            "cold": _timed(judge, hands),
            "warm": _timed(judge, hands),
        }
        for what, judge, hands in jobs
    ]
    return {"hands": count, "load_ms": round(load_ms, 1), "load_goal_ms": LOAD_GOAL_MS, "rows": rows}


def cards(count: int) -> list[dict[str, Any]]:
    """Judge `count` seeded hands of each kind of every card game, as `engine` does."""
    rng = random.Random(SEED)
    rows = []
    for name in CARD_GOALS_US:
        won = [won_cards(rng, name) for _ in range(count)]
        ready = [Hand(hand.rules, hand.concealed, hand.melds) for hand in won]
        held = [worse(rng, hand) for hand in ready]
        drawn = [Hand(h.rules, h.concealed, h.melds, Winning(_draw(rng, h), "wall")) for h in held]
        jobs: list[tuple[str, Callable[[Hand], Any], Sequence[Hand]]] = [
            ("arrangement and score", analysis.score, won),
            ("waits with value", analysis.waits, ready),
            ("whole analysis", analysis.analyse, [*won, *ready, *held, *drawn]),
        ]
        for what, judge, hands in jobs:
            times = {"cold": _timed(judge, hands), "warm": _timed(judge, hands)}
            rows.append({"rules": name, "what": what, "goal_us": CARD_GOALS_US[name][what], **times})
    return rows


def vision() -> list[dict[str, Any]]:
    """Read the sample photos, large and small; see `vision.bench`."""
    from vision.bench import measure
    from vision.reader import Reader

    samples = files("web").joinpath("static", "samples")
    tiles = samples.joinpath("sichuan-hand.jpg").read_bytes()
    cards = samples.joinpath("fujian-hand.jpg").read_bytes() if "four-color" in readable_decks() else None
    return [timing.to_document() for timing in measure(tiles, Reader.default(), cards=cards)]


def won_hand(rng: random.Random) -> Hand:
    """A random won Sichuan hand: one or two suits, up to three melds, now and then seven pairs."""
    void, *suits = rng.sample("mps", 3)
    suits = suits[: rng.choice((1, 2, 2, 2))]
    while True:
        if rng.random() < 0.15:
            groups = [2 * _piece(rng.randint(1, 9), rng.choice(suits)) for _ in range(7)]
        else:
            groups = [_set(rng, rng.choice(suits)) for _ in range(4)] + [
                2 * _piece(rng.randint(1, 9), rng.choice(suits))
            ]
        if max(Counter(piece for group in groups for piece in group).values()) <= 4:
            break
    down = rng.choice((0, 0, 1, 2, 3))
    pungs = [group for group in groups if len(group) == 3 and group[0] is group[1]][:down]
    concealed = [piece for group in groups if group not in pungs for piece in group]
    rng.shuffle(concealed)
    winning = Winning(concealed.pop(), rng.choice(("wall", "discard")))
    return Hand(
        "sichuan",
        tuple(concealed),
        tuple(Meld("pung", pung) for pung in pungs),
        winning,
        context={"void": void},
    )


def won_cards(rng: random.Random, rules: str) -> Hand:
    """A random complete hand of a card game: melds from the whole deck, some of them declared."""
    rule_set = RULE_SETS[rules]
    full = rule_set.sizes[0]
    colours = "yrwg"
    kinds = [Piece.parse(rank + c) for rank in "KAERHCP" for c in colours]
    alike = [(kind,) * size for kind in kinds for size in (2, 2, 3, 4)]
    chows = [parse_pieces(f"{ranks}{c}") for ranks in ("KAE", "RHC") for c in colours] * 4
    others = [parse_pieces(f"K{c}") for c in colours] * 4 + [parse_pieces("PyPrPwPg")] * 6
    while True:
        melds: list[tuple[Piece, ...]] = []
        held: Counter[Piece] = Counter()
        while sum(held.values()) < full:
            meld = rng.choice((alike, alike, chows, others))
            melds.append(rng.choice(meld))
            held.update(melds[-1])
        if sum(held.values()) == full and max(held.values()) <= 4:
            break
    pungs = [meld for meld in melds if len(meld) == 3 and meld[0] is meld[1]][: rng.choice((0, 1, 2))]
    concealed = [piece for meld in melds if meld not in pungs for piece in meld]
    rng.shuffle(concealed)
    winning = Winning(concealed.pop(), rng.choice(("wall", "discard")))
    return Hand(rules, tuple(concealed), tuple(Meld("pung", pung) for pung in pungs), winning)


def worse(rng: random.Random, hand: Hand) -> Hand:
    """The hand with up to five pieces exchanged, as it may have looked some turns before."""
    for _ in range(rng.randint(0, 5)):
        concealed = list(hand.concealed)
        concealed[rng.randrange(len(concealed))] = _draw(rng, hand)
        hand = Hand(hand.rules, tuple(concealed), hand.melds, context=hand.context)
    return hand


def _draw(rng: random.Random, hand: Hand) -> Piece:
    held = Counter(
        piece for group in (hand.concealed, *(meld.pieces for meld in hand.melds)) for piece in group
    )
    rule_set = RULE_SETS[hand.rules]
    copies = {piece: rule_set.copies(piece, hand.options) for piece in rule_set.pieces}
    wall = [piece for piece in rule_set.pieces for _ in range(copies[piece] - held[piece])]
    return rng.choice(wall)


def _set(rng: random.Random, suit: str) -> tuple[Piece, ...]:
    if rng.random() < 0.4:
        return 3 * _piece(rng.randint(1, 9), suit)
    low = rng.randint(1, 7)
    return _piece(low, suit) + _piece(low + 1, suit) + _piece(low + 2, suit)


def _piece(rank: int, suit: str) -> tuple[Piece, ...]:
    return (Piece.parse(f"{rank}{suit}"),)


def _timed(judge: Callable[[Hand], Any], hands: Sequence[Hand]) -> dict[str, float]:
    clock = time.perf_counter_ns
    taken = []
    gc_was_on = gc.isenabled()
    gc.disable()
    try:
        for hand in hands:
            started = clock()
            judge(hand)
            taken.append((clock() - started) / 1000)
    finally:
        if gc_was_on:
            gc.enable()
    taken.sort()
    p95 = taken[min(len(taken) * 95 // 100, len(taken) - 1)]
    return {"median_us": round(statistics.median(taken), 1), "p95_us": round(p95, 1)}


def _report(document: dict[str, Any]) -> list[str]:
    lines = []
    if measured := document.get("engine"):
        lines += [
            f"engine: tables loaded in {measured['load_ms']} ms (goal {measured['load_goal_ms']:.0f});",
            f"{measured['hands']} hands of each kind, microseconds a hand:",
            f"{'':20}{'goal':>8}{'cold median':>14}{'p95':>9}{'warm median':>14}{'p95':>9}",
        ]
        for row in measured["rows"]:
            goal = f"{row['goal_us']:.0f}" if row["goal_us"] else "-"
            cold, warm = row["cold"], row["warm"]
            lines.append(
                f"{row['what']:20}{goal:>8}{cold['median_us']:>14}{cold['p95_us']:>9}"
                f"{warm['median_us']:>14}{warm['p95_us']:>9}"
            )
        for row in measured["cards"]:
            cold, warm = row["cold"], row["warm"]
            lines.append(
                f"{row['rules']}: {row['what']}: cold {cold['median_us']} (p95 {cold['p95_us']}), "
                f"warm {warm['median_us']} (p95 {warm['p95_us']}), goal {row['goal_us']:.0f}"
            )
    for photo in document.get("vision", ()):
        size = (
            f"{photo['width']} x {photo['height']}, {photo['bytes'] / 1e6:.1f} MB, {photo['pieces']} pieces"
        )
        stages = ", ".join(
            f"{stage} {ms}" for stage, ms in photo["ms"].items() if stage not in ("total", "worst")
        )
        lines.append(
            f"vision: {photo['photo']} ({size}): {photo['ms']['total']} ms, slowest {photo['ms']['worst']}"
            f" (goal {photo['goal_ms']:.0f}); {stages}"
        )
    if server := document.get("server"):
        peak = (
            "not told by this system" if server["peak_mb"] is None else f"{server['peak_mb']:.0f} MB at most"
        )
        lines.append(
            f"server: {server['photos']} photos for several visitors at once, a third of 12 megapixels: "
            f"{peak} (goal {server['goal_mb']:.0f})"
        )
    return lines
