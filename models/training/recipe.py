"""Make the shipped models anew, from the training data to the calibrated ONNX files, with one command.

    python -m models.training.recipe OUT

runs every step below in the folder OUT, two at a time where none waits for the other; the models end up in
OUT/models. A step that was finished is not run again, so an interrupted run goes on where it was. On two
cores it takes some nineteen hours.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from datasets.art import data_folder

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Step:
    """A command `python -m MODULE ARGUMENTS`, run in the output folder once the steps it needs are done."""

    name: str
    command: str
    needs: tuple[str, ...] = ()


SCENES = ("scenes-a", "scenes-b", "scenes-c")
ALL_SCENES = " ".join(f"--rendered {name}" for name in SCENES)
MORE_SCENES = "--rendered scenes-d --rendered scenes-e --rendered scenes-f"
CARD_SCENES = "--rendered cards --rendered cards-2 --foreign scenes-a"
LAST_CARDS = (
    "--deck four-color --folds --rendered cards-2 --rendered cards-3 --rendered cards-4 --rendered cards-5"
    " --foreign scenes-c"
)

STEPS = (
    Step("scenes-a", "datasets.make_scenes scenes-a --count 4500 --seed 11"),
    Step(
        "locator-1",
        "models.training.locator --rendered scenes-a --out locator-1.pt --steps 4000 --rate 2e-3",
        ("scenes-a",),
    ),
    Step("scenes-b", "datasets.make_scenes scenes-b --count 3500 --seed 12 --lettered 0.85"),
    Step(
        "reader-1",
        "models.training.reader --rendered scenes-a --out reader-1.pt --steps 800 --batch 96",
        ("scenes-a",),
    ),
    Step("scenes-c", "datasets.make_scenes scenes-c --count 900 --seed 13 --lettered 0.6 --layout slanted"),
    # What the first models find in the photos of slanted rows is what the reader learns slanted rows from.
    Step("first-locator", "models.training.export locator locator-1.pt --out first", ("locator-1",)),
    Step("first-reader", "models.training.export reader reader-1.pt --out first", ("reader-1",)),
    Step(
        "quads", "models.training.harvest --models first --out quads.json", ("first-locator", "first-reader")
    ),
    Step(
        "reader-2",
        f"models.training.reader {ALL_SCENES} --quads quads.json --start reader-1.pt --out reader-2.pt"
        " --steps 8500 --batch 96 --seed 1",
        ("quads", *SCENES),
    ),
    # Flowers are pictures that sets copy from each other, and photos show them as tables do: small.
    Step(
        "reader-3",
        f"models.training.reader {ALL_SCENES} --quads quads.json --start reader-2.pt --out reader-3.pt"
        " --steps 6000 --batch 96 --rate 1.5e-3 --seed 3 --shares 0.4 0.15 0.45 --flowers 2",
        ("reader-2",),
    ),
    Step(
        "reader-4",
        f"models.training.reader {ALL_SCENES} --quads quads.json --start reader-3.pt --out reader-4.pt"
        " --steps 1800 --batch 96 --rate 1e-3 --seed 4 --shares 0.35 0.2 0.45 --flowers 4",
        ("reader-3",),
    ),
    Step(
        "reader-5",
        f"models.training.reader {ALL_SCENES} --quads quads.json --start reader-4.pt --out reader-5.pt"
        " --steps 1500 --batch 96 --rate 1e-3 --seed 5 --shares 0.35 0.2 0.45 --flowers 3",
        ("reader-4",),
    ),
    Step(
        "locator-2",
        f"models.training.locator {ALL_SCENES} --start locator-1.pt --out locator-2.pt"
        " --steps 4000 --rate 1.5e-3 --seed 1",
        ("locator-1", *SCENES),
    ),
    # Rows seen aslant are the hardest to find: low, narrow faces, whole rows of them.
    Step("scenes-d", "datasets.make_scenes scenes-d --count 2600 --seed 14 --lettered 0.6 --layout slanted"),
    Step(
        "locator",
        f"models.training.locator {ALL_SCENES} --rendered scenes-d --start locator-2.pt --out locator.pt"
        " --steps 6500 --rate 1.5e-3 --seed 2 --share 0.7",
        ("locator-2", "scenes-d"),
    ),
    Step("scenes-e", "datasets.make_scenes scenes-e --count 1400 --seed 15 --lettered 0.6 --layout game"),
    Step("scenes-f", "datasets.make_scenes scenes-f --count 1600 --seed 16 --lettered 1.0"),
    Step(
        "reader-6",
        f"models.training.reader {ALL_SCENES} {MORE_SCENES} --quads quads.json --start reader-5.pt"
        " --out reader-6.pt --steps 2000 --batch 96 --rate 1.6e-3 --seed 7"
        " --shares 0.45 0.13 0.42 --flowers 3",
        ("reader-5", "scenes-d", "scenes-e", "scenes-f"),
    ),
    # Of the faces in hands flowers are few, and no two sets draw them alike.
    Step("scenes-g", "datasets.make_scenes scenes-g --count 1000 --seed 17 --lettered 0.7 --layout flowers"),
    Step(
        "reader-7",
        f"models.training.reader {ALL_SCENES} {MORE_SCENES} --rendered scenes-g --quads quads.json"
        " --start reader-6.pt --out reader-7.pt --steps 3000 --batch 96 --rate 1.6e-3 --seed 8"
        " --shares 0.47 0.12 0.41 --flowers 3",
        ("reader-6", "scenes-g"),
    ),
    Step(
        "reader",
        f"models.training.reader {ALL_SCENES} {MORE_SCENES} --rendered scenes-g --quads quads.json"
        " --start reader-7.pt --out reader.pt --steps 2000 --batch 96 --rate 1e-3 --seed 9"
        " --shares 0.47 0.12 0.41 --flowers 3",
        ("reader-7",),
    ),
    # Cards are only rendered; their ends are found by a net that learned from tiles where small quads lie.
    Step("cards", "datasets.make_scenes cards --deck four-color --count 2400 --seed 31"),
    Step(
        "card-locator-1",
        "models.training.locator --folds --rendered cards --start locator-2.pt --out card-locator-1.pt"
        " --steps 3500 --rate 1.5e-3",
        ("cards", "locator-2"),
    ),
    Step("cards-2", "datasets.make_scenes cards-2 --deck four-color --count 1600 --seed 33"),
    Step("cards-3", "datasets.make_scenes cards-3 --deck four-color --count 1500 --seed 34"),
    Step(
        "card-locator-2",
        "models.training.locator --folds --rendered cards --rendered cards-2 --rendered cards-3"
        " --start card-locator-1.pt --out card-locator-2.pt --steps 2800 --rate 1.2e-3 --seed 1",
        ("card-locator-1", "cards-2", "cards-3"),
    ),
    Step(
        "card-reader-1",
        "models.training.reader --deck four-color --folds --rendered cards --foreign scenes-a"
        " --out card-reader-1.pt --steps 5000 --batch 96",
        ("cards", "scenes-a"),
    ),
    Step(
        "card-reader-2",
        "models.training.reader --deck four-color --folds --rendered cards --foreign scenes-a"
        " --start card-reader-1.pt --out card-reader-2.pt --steps 3500 --batch 96 --rate 1.5e-3 --seed 1",
        ("card-reader-1",),
    ),
    Step(
        "card-reader-3",
        f"models.training.reader --deck four-color --folds {CARD_SCENES} --start card-reader-2.pt"
        " --out card-reader-3.pt --steps 6500 --batch 96 --rate 1.5e-3 --seed 2",
        ("card-reader-2", "cards-2"),
    ),
    Step(
        "card-reader-4",
        f"models.training.reader --deck four-color --folds {CARD_SCENES} --start card-reader-3.pt"
        " --out card-reader-4.pt --steps 3600 --batch 96 --rate 1.5e-3 --seed 3",
        ("card-reader-3",),
    ),
    Step(
        "card-reader-5",
        f"models.training.reader --deck four-color --folds {CARD_SCENES} --rendered cards-3"
        " --start card-reader-4.pt --out card-reader-5.pt --steps 5500 --batch 96 --rate 1.5e-3 --seed 4",
        ("card-reader-4", "cards-3"),
    ),
    Step(
        "card-reader-6",
        f"models.training.reader --deck four-color --folds {CARD_SCENES} --rendered cards-3"
        " --start card-reader-5.pt --out card-reader-6.pt --steps 4800 --batch 96 --rate 1.6e-3 --seed 7",
        ("card-reader-5",),
    ),
    Step(
        "cards-4",
        "datasets.make_scenes cards-4 --deck four-color --count 1300 --seed 35 --size 1280 --trying 0.75",
    ),
    Step(
        "card-reader-7",
        "models.training.reader --deck four-color --folds --rendered cards-2 --rendered cards-3"
        " --rendered cards-4 --foreign scenes-c --start card-reader-6.pt --out card-reader-7.pt"
        " --steps 1700 --batch 96 --rate 1.1e-3 --seed 8",
        ("card-reader-6", "cards-4", "scenes-c"),
    ),
    Step(
        "card-reader-8",
        "models.training.reader --deck four-color --folds --rendered cards --rendered cards-2"
        " --rendered cards-3 --rendered cards-4 --foreign scenes-c --start card-reader-7.pt"
        " --out card-reader-8.pt --steps 4800 --batch 96 --rate 1.5e-3 --seed 11",
        ("card-reader-7",),
    ),
    Step(
        "cards-5",
        "datasets.make_scenes cards-5 --deck four-color --count 2200 --seed 36 --size 1280 --trying 0.75",
    ),
    # What the locator takes for ends and is none, words above all, is what the reader has to refuse; then the
    # locator itself learns from title cards and words.
    Step(
        "first-card-locator",
        "models.training.export locator card-locator-2.pt --deck four-color --out first",
        ("card-locator-2",),
    ),
    Step(
        "mistaken",
        "models.training.harvest --models first --rendered cards-4 --rendered cards-5 --out mistaken.json",
        ("first-card-locator", "cards-4", "cards-5"),
    ),
    Step(
        "card-reader-9",
        f"models.training.reader {LAST_CARDS} --mistaken mistaken.json --start card-reader-8.pt"
        " --out card-reader-9.pt --steps 6500 --batch 96 --rate 1.5e-3 --seed 12",
        ("card-reader-8", "mistaken"),
    ),
    Step(
        "card-reader",
        f"models.training.reader {LAST_CARDS} --mistaken mistaken.json --start card-reader-9.pt"
        " --out card-reader.pt --steps 7500 --batch 96 --rate 1.5e-3 --seed 13",
        ("card-reader-9",),
    ),
    Step(
        "card-locator-3",
        "models.training.locator --folds --rendered cards-2 --rendered cards-3 --rendered cards-4"
        " --rendered cards-5 --start card-locator-2.pt --out card-locator-3.pt"
        " --steps 4200 --rate 1.2e-3 --seed 2",
        ("card-locator-2", "cards-4", "cards-5"),
    ),
    Step(
        "card-locator-4",
        "models.training.locator --folds --rendered cards --rendered cards-2 --rendered cards-3"
        " --rendered cards-4 --rendered cards-5 --start card-locator-3.pt --out card-locator-4.pt"
        " --steps 4500 --rate 1.1e-3 --seed 3",
        ("card-locator-3",),
    ),
    Step(
        "cards-6",
        "datasets.make_scenes cards-6 --deck four-color --count 2400 --seed 37 --size 1280 --trying 0.75",
    ),
    Step("cards-7", "datasets.make_scenes cards-7 --deck four-color --count 2400 --seed 38 --size 1280"),
    Step(
        "card-locator",
        "models.training.locator --folds --rendered cards-6 --rendered cards-7 --start card-locator-4.pt"
        " --out card-locator.pt --steps 4500 --rate 1.2e-3 --seed 4",
        ("card-locator-4", "cards-6", "cards-7"),
    ),
    Step(
        "final-card-locator",
        "models.training.export locator card-locator.pt --deck four-color --out models",
        ("card-locator",),
    ),
    Step("held-out", "datasets.make_scenes held-out --count 250 --seed 99 --sets held-out --size 1280"),
    Step("final-locator", "models.training.export locator locator.pt --out models", ("locator",)),
    Step("final-reader", "models.training.export reader reader.pt --out models", ("reader",)),
    Step(
        "calibrated",
        "models.training.calibrate --models models --rendered held-out --write",
        ("final-locator", "final-reader", "held-out"),
    ),
    Step(
        "held-out-cards",
        "datasets.make_scenes held-out-cards --deck four-color --count 200 --seed 32 --sets held-out",
    ),
    Step(
        "final-card-reader",
        "models.training.export reader card-reader.pt --deck four-color --out models",
        ("card-reader",),
    ),
    Step(
        "cards-calibrated",
        "models.training.calibrate --deck four-color --models models --rendered held-out-cards --write",
        ("final-card-locator", "final-card-reader", "held-out-cards"),
    ),
)


def run(step: Step, folder: Path, data: Path) -> None:
    """Run one step, its output in `<name>.log`; RuntimeError when it fails."""
    started = time.monotonic()
    module, *arguments = step.command.split()
    places = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "COMPANION_DATA": str(data), "PYTHONPATH": os.pathsep.join(places)}
    with (folder / f"{step.name}.log").open("w", encoding="utf-8") as log:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments], cwd=folder, env=environment, stdout=log, stderr=log
        )
    if done.returncode:
        raise RuntimeError(f"step {step.name} failed: see {folder / step.name}.log")
    (folder / f"{step.name}.done").touch()
    print(f"{step.name}: {time.monotonic() - started:.0f} s", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="folder to work in")
    parser.add_argument("--data", type=Path, help="training data (default COMPANION_DATA or ../shared/data)")
    parser.add_argument("--jobs", type=int, default=2, help="steps that run at the same time")
    args = parser.parse_args(argv)
    data = data_folder(args.data).resolve()
    for name in ("first", "models"):
        (args.out / name).mkdir(parents=True, exist_ok=True)
    done = {step.name for step in STEPS if (args.out / f"{step.name}.done").exists()}
    waiting = [step for step in STEPS if step.name not in done]
    running: dict[Future[None], str] = {}
    with ThreadPoolExecutor(args.jobs) as pool:
        while waiting or running:
            for step in list(waiting):
                if len(running) < args.jobs and done.issuperset(step.needs):
                    waiting.remove(step)
                    running[pool.submit(run, step, args.out, data)] = step.name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                try:
                    future.result()
                except RuntimeError as error:
                    print(f"recipe: {error}", file=sys.stderr)
                    return 1
                done.add(running.pop(future))
    print(f"The models are in {args.out / 'models'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
