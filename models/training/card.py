"""Write into the manifests how the models were made and what they reach, and print the model card's table.

companion evaluate ../shared/data/mahjong --fold tables_never_seen --models models --json > folds.json
python -m models.training.card --models models --measured folds=folds.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from datasets import cards
from datasets.layouts import HELD_OUT_FONTS, HELD_OUT_SETS
from models.training.recipe import STEPS

LAST_STEPS = {"mahjong": "calibrated", "four-color": "cards-calibrated"}
"""The step of the recipe that finishes the models of each deck."""

ABOUT = {
    "mahjong": {
        "data": "rendered scenes and the real photos of the fold `train`; credits in models/README.md",
        "held_out": ["tables_never_seen", "sets_never_seen", *HELD_OUT_SETS, *HELD_OUT_FONTS],
    },
    "four-color": {
        "data": "rendered scenes (the locator starts from that of tiles); credits in models/README.md",
        "held_out": ["four-color/val", *cards.VALIDATION_FONTS, *cards.HELD_OUT_FONTS],
    },
}

COLUMNS = {
    "mahjong": ("tiles", "found", "read"),
    "four-color": ("cards", "found", "read", "rank", "colour"),
}
COMMON = ("calibration_error", "marked", "of the errors", "hands", "whole_hands")
SHARES = ("found", "read", "rank", "colour", "calibration_error", "marked", "whole_hands")


def training(deck: str) -> dict[str, Any]:
    """How a deck's models are made, for their manifests."""
    needed = {LAST_STEPS[deck]}
    for step in reversed(STEPS):
        if step.name in needed:
            needed.update(step.needs)
    steps = [f"python -m {step.command}" for step in STEPS if step.name in needed]
    return {"recipe": "python -m models.training.recipe OUT", "steps": steps, **ABOUT[deck]}


def rows(name: str, report: dict[str, Any], deck: str) -> Iterator[str]:
    """Lines of the table for one report of `companion evaluate --json`."""
    folds = report.get("by_fold") or {}
    for fold, figures in folds.items():
        yield _row(f"fold `{fold}`", figures, deck)
    for group, figures in (report.get("by_group") or {}).items():
        yield _row(f"- {group}", figures, deck)
    if not folds:
        yield _row(name, report["total"], deck)
    for kind, figures in (report.get("by_hard") or {}).items():
        yield _row(f"- {name}: {kind} ones", figures, deck)
    again = report.get("by_again") or {}
    for kind, figures in again.items() if len(again) > 1 else ():
        yield _row(f"- {name}: photos {kind}", figures, deck)
    for layout, figures in (report.get("by_layout") or {}).items():
        yield _row(f"- {layout}", figures, deck)


def _row(name: str, figures: dict[str, Any], deck: str) -> str:
    def cell(key: str) -> str:
        if key == "of the errors":
            return f"{figures['misread_marked']} of {figures['misread']}" if "misread" in figures else "–"
        if figures.get(key) is None:
            return "–"
        return f"{100 * figures[key]:.1f} %" if key in SHARES else str(figures[key])

    cells = [name, *(cell(key) for key in ("scenes", *COLUMNS[deck], *COMMON))]
    return f"| {' | '.join(cells)} |"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--deck", choices=tuple(LAST_STEPS), default="mahjong")
    parser.add_argument(
        "--measured",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a report of `companion evaluate --json` and what it was measured on",
    )
    args = parser.parse_args(argv)
    reports = {}
    for each in args.measured:
        name, _, path = each.partition("=")
        reports[name] = json.loads(Path(path).read_text(encoding="utf-8"))
    kept = ("total", "by_fold", "by_hard", "by_again", "by_layout")
    measured = {
        name: {key: report[key] for key in kept if report.get(key)} for name, report in reports.items()
    }
    for path in sorted(args.models.glob(f"{args.deck}-*.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        manifest |= {
            "licence": "MIT",
            "deck": args.deck,
            "training": training(args.deck),
            "measured": measured,
        }
        path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    head = ["measured on", "scenes", *COLUMNS[args.deck], *COMMON]
    print(f"| {' | '.join(title.replace('_', ' ') for title in head)} |")
    print("|---" * len(head) + "|")
    for name, report in reports.items():
        print("\n".join(rows(name, report, args.deck)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
