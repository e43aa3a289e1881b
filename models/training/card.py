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

from datasets.layouts import HELD_OUT_FONTS, HELD_OUT_SETS
from models.training.recipe import STEPS

HEAD = (
    "| measured on | photos | tiles | found | read right (of all) | calibration error | marked doubtful "
    "| of the errors | hands | whole hands right |\n|---|---|---|---|---|---|---|---|---|---|"
)


def training() -> dict[str, Any]:
    """How the models are made, for their manifests."""
    return {
        "recipe": "python -m models.training.recipe OUT",
        "steps": [f"python -m {step.command}" for step in STEPS],
        "data": "rendered scenes and the real photos of the fold `train`; credits in models/README.md",
        "held_out": ["tables_never_seen", "sets_never_seen", *HELD_OUT_SETS, *HELD_OUT_FONTS],
    }


def rows(name: str, report: dict[str, Any]) -> Iterator[str]:
    """Lines of the table for one report of `companion evaluate --json`."""
    folds = report.get("by_fold") or {}
    for fold, figures in folds.items():
        yield _row(f"fold `{fold}`", figures)
    for group, figures in (report.get("by_group") or {}).items():
        yield _row(f"- {group}", figures)
    if not folds:
        yield _row(name, report["total"])
    for kind, figures in (report.get("by_hard") or {}).items():
        yield _row(f"- {name}: {kind} ones", figures)


def _row(name: str, figures: dict[str, Any]) -> str:
    def share(key: str) -> str:
        return "–" if figures.get(key) is None else f"{100 * figures[key]:.1f} %"

    errors = f"{figures['misread_marked']} of {figures['misread']}" if "misread" in figures else "–"
    cells = [name, figures["scenes"], figures["tiles"], share("found"), share("read")]
    cells += [share("calibration_error"), share("marked"), errors, figures["hands"], share("whole_hands")]
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=Path, default=Path("models"))
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
    kept = ("total", "by_fold", "by_hard")
    measured = {
        name: {key: report[key] for key in kept if report.get(key)} for name, report in reports.items()
    }
    for path in sorted(args.models.glob("mahjong-*.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        manifest |= {"licence": "MIT", "deck": "mahjong", "training": training(), "measured": measured}
        path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(HEAD)
    for name, report in reports.items():
        print("\n".join(rows(name, report)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
