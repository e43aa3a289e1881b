"""Measure the reading of cards; `datasets.evaluate` tells what is common to all pieces.

- A card **counts** when one of its ends is at least 60 % in sight and 16 pixels wide: nobody could read a
  smaller glyph. It is **found** when a sighting lies on one of its ends, **read** when rank and colour are
  right; both are shares of all cards that count. **rank** and **colour** are shares of those found, each
  asked alone.
- A **whole hand** has all cards of the hand and its melds, and nothing else. It is measured where all of them
  count. **In order** are those whole hands whose cards come as they lie, row after row (from either end, but
  fans from the left); **melds** are the labelled groups that were read as one group.
- **Extra** are sightings on no card: two for one card, or what is no card at all.
- Labels may tell only which cards there are. Then each is held against a card that was read: the same one,
  else one of the same colour, else one of the same rank, else any that is left.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from companion.reading import Reading, Sighting
from datasets import measuring
from datasets.measuring import (
    IN_SIGHT,
    OWN,
    Match,
    Outcome,
    calibration_error,
    hand_text,
    percent,
    share,
    split,
)
from datasets.outcomes import Comparison
from datasets.scenes import NO_CARDS, Label, Scene
from vision.quality import asks_again

LEAST_WIDE = 16.0
"""Pixels across an end of a card whose glyph can be read."""
OVERLAP = 0.2
"""An end and a sighting that share less of what both cover lie beside each other."""
SCATTERED = frozenset({"scatter"})
"""Layouts in which cards lie in no order."""
OPENING = frozenset({"fan"})
"""Layouts that tell from which side they are to be read."""


@dataclass(frozen=True)
class CardOutcome(Outcome):
    """How one scene of cards was read: `faces` are cards.

    told: whether the deck was told right, None where nothing was read. ordered: whether a whole hand comes
    as it lies, None where that is not measured. groups, groups_right: labelled melds, and those read as such.
    """

    told: bool | None = None
    ordered: bool | None = None
    groups: int = 0
    groups_right: int = 0

    @property
    def extra(self) -> tuple[Sighting, ...]:
        return self.unlabelled


def measure(scene: Scene, reading: Reading) -> CardOutcome:
    """Compare a reading with the labels of its scene of cards."""
    return _by_names(scene, reading) if scene.pieces else _by_places(scene, reading)


def _by_names(scene: Scene, reading: Reading) -> CardOutcome:
    """Where the labels tell no places."""
    left = list(reading.sightings)
    matches: list[Match] = []
    open_labels = [Label(piece, (0.0, 0.0, 0.0, 0.0)) for piece in scene.pieces]
    for alike in (
        lambda a, b: a == b,
        lambda a, b: a[1] == b[1],
        lambda a, b: a[0] == b[0],
        lambda a, b: True,
    ):
        for label in list(open_labels):
            sighting = next((one for one in left if alike(one.piece, label.piece)), None)
            if sighting is not None:
                left.remove(sighting)
                open_labels.remove(label)
                matches.append(Match(label, sighting))
    matches += [Match(label, None) for label in open_labels]
    own = Counter(sighting.piece for sighting in reading.sightings if sighting.role in OWN)
    return CardOutcome(
        scene,
        tuple(matches),
        tuple(left),
        whole=own == Counter(scene.pieces),
        hand=hand_text(reading),
        ms=reading.ms.get("total"),
        again=asks_again(reading.warnings),
        told=_told(reading),
    )


def _by_places(scene: Scene, reading: Reading) -> CardOutcome:
    labels, cards = scene.labels, scene.cards
    if scene.width and scene.height and (reading.width, reading.height) != (scene.width, scene.height):
        x, y = reading.width / scene.width, reading.height / scene.height
        labels, cards = (tuple(one.scaled(x, y) for one in part) for part in (labels, cards))
    on = _lying_on(labels, reading.sightings)
    in_sight = np.zeros(len(cards))
    for label in labels:
        if label.card is not None and _wide(label) >= LEAST_WIDE:
            in_sight[label.card] = max(in_sight[label.card], label.visible)
    real = [number for number, card in enumerate(cards) if card.piece not in NO_CARDS]
    pairs = {n: Match(cards[n], reading.sightings[on[n]] if n in on else None) for n in real}
    own = [n for n in real if cards[n].role in OWN]
    whole = ordered = None
    if own and all(in_sight[n] >= IN_SIGHT for n in own):
        said = [s.piece for s in reading.sightings if s.role in OWN]
        whole = Counter(said) == Counter(cards[n].piece for n in own)
        if whole and scene.layout not in SCATTERED:
            held = [n for n in own if cards[n].role == "hand"]
            lie = [cards[n].piece for n in sorted(held, key=lambda n: (cards[n].row, cards[n].place))]
            said = [s.piece for s in reading.sightings if s.role == "hand"]
            # Seen from the other side of the table a row runs the other way, and nothing in it tells.
            ordered = lie in ((said,) if scene.layout in OPENING else (said, said[::-1]))
    groups = {cards[n].group for n in own if cards[n].group is not None}
    read_as = {
        frozenset(n for n in on if reading.sightings[on[n]].group == group)
        for group in range(len(reading.melds))
    }
    together = [frozenset(n for n in own if cards[n].group == group) for group in sorted(groups)]  # type: ignore[type-var]
    seen = [group for group in together if all(in_sight[n] >= IN_SIGHT for n in group)]
    roles = [(pair.label.role, pair.sighting.role) for pair in pairs.values() if pair.sighting is not None]
    taken = set(on.values())
    return CardOutcome(
        scene,
        tuple(pairs[n] for n in real if in_sight[n] >= IN_SIGHT),
        tuple(s for k, s in enumerate(reading.sightings) if k not in taken),
        whole=whole,
        roles=tuple((label, said) for label, said in roles if label is not None),
        hand=hand_text(reading),
        ms=reading.ms.get("total"),
        again=asks_again(reading.warnings),
        told=_told(reading),
        ordered=ordered,
        groups=len(seen),
        groups_right=sum(group in read_as for group in seen),
    )


def _wide(end: Label) -> float:
    """How many pixels an end measures across."""
    quad = np.array(end.quad)
    return float(np.linalg.norm(quad[1] - quad[0]) + np.linalg.norm(quad[2] - quad[3])) / 2


def _told(reading: Reading) -> bool | None:
    return None if reading.deck is None else reading.deck == "four-color"


def _lying_on(labels: Sequence[Label], sightings: Sequence[Sighting]) -> dict[int, int]:
    """For each card that was found the index of the sighting on one of its ends: those that overlap best
    first, each sighting on one card.
    """
    overlaps = []
    seen = [np.array(sighting.quad, np.float32) for sighting in sightings]
    for label in labels:
        if label.card is None or label.quad is None:
            continue
        end = np.array(label.quad, np.float32)
        for number, quad in enumerate(seen):
            if (quad.max(0) < end.min(0)).any() or (quad.min(0) > end.max(0)).any():
                continue
            both = cv2.intersectConvexConvex(end, quad)[0]
            either = cv2.contourArea(end) + cv2.contourArea(quad) - both
            overlaps.append((both / max(either, 1e-6), label.card, number))
    found: dict[int, int] = {}
    for overlap, card, number in sorted(overlaps, key=lambda each: (-each[0], each[1:])):
        if overlap >= OVERLAP and card not in found and number not in found.values():
            found[card] = number
    return found


# Figures


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts over some scenes of cards; see `datasets.evaluate.Figures`.

    rank, colour: found cards of which it is right. told: photos whose deck was told right, of `asked` in
    which something was read. ordered: whole hands in the order in which they lie, of `in_lines` measured.
    """

    scenes: int
    cards: int
    found: int
    read: int
    rank: int
    colour: int
    calibration: float | None
    marked: int
    errors: int
    errors_marked: int
    hands: int
    whole: int
    in_lines: int
    ordered: int
    groups: int
    groups_right: int
    extra: int
    asked: int
    told: int
    ms: float | None

    @classmethod
    def of(cls, measured: Sequence[Outcome]) -> Figures:
        outcomes = [outcome for outcome in measured if isinstance(outcome, CardOutcome)]
        times = [o.ms for o in outcomes if o.ms is not None]
        found = [(m.label.piece, m.sighting) for o in outcomes for m in o.faces if m.sighting is not None]
        errors = [sighting for piece, sighting in found if sighting.piece != piece]
        return cls(
            scenes=len(outcomes),
            cards=sum(len(o.faces) for o in outcomes),
            found=len(found),
            read=len(found) - len(errors),
            rank=sum(sighting.piece[0] == piece[0] for piece, sighting in found),
            colour=sum(sighting.piece[1] == piece[1] for piece, sighting in found),
            calibration=calibration_error(outcomes),
            marked=sum(sighting.doubtful for _, sighting in found),
            errors=len(errors),
            errors_marked=sum(sighting.doubtful for sighting in errors),
            hands=sum(o.whole is not None for o in outcomes),
            whole=sum(o.whole is True for o in outcomes),
            in_lines=sum(o.ordered is not None for o in outcomes),
            ordered=sum(o.ordered is True for o in outcomes),
            groups=sum(o.groups for o in outcomes),
            groups_right=sum(o.groups_right for o in outcomes),
            extra=sum(len(o.extra) for o in outcomes),
            asked=sum(o.told is not None for o in outcomes),
            told=sum(o.told is True for o in outcomes),
            ms=statistics.median(times) if times else None,
        )

    def to_document(self) -> dict[str, Any]:
        """The counts and the shares made of them, JSON-ready; a share of nothing is null."""
        return {
            "scenes": self.scenes,
            "cards": self.cards,
            "found": share(self.found, self.cards),
            "read": share(self.read, self.cards),
            "rank": share(self.rank, self.found),
            "colour": share(self.colour, self.found),
            "calibration_error": None if self.calibration is None else round(self.calibration, 4),
            "marked": share(self.marked, self.found),
            "misread": self.errors,
            "misread_marked": self.errors_marked,
            "share_of_misread_marked": share(self.errors_marked, self.errors),
            "hands": self.hands,
            "whole_hands": share(self.whole, self.hands),
            "whole_hands_in_order": share(self.ordered, self.in_lines),
            "melds": self.groups,
            "melds_right": share(self.groups_right, self.groups),
            "extra": self.extra,
            "deck_told_right": share(self.told, self.asked),
            "median_ms": None if self.ms is None else round(self.ms, 1),
        }


HEAD = (
    "", "photos", "cards", "found", "read", "rank", "colour", "ECE", "marked", "of errors", "hands", "whole",
    "in order", "melds", "extra", "deck", "ms",
)  # fmt: skip


def report_document(outcomes: Sequence[Outcome], change: Comparison | None = None) -> dict[str, Any]:
    """Everything measured, JSON-ready; with what changed since earlier outcomes, if that was asked."""
    parts = {by: _figures(outcomes, by) for by in ("source", "layout", "again")}
    return measuring.report_document(outcomes, Figures.of(outcomes), parts, change)


def report_text(outcomes: Sequence[Outcome], roles: bool = False) -> str:
    """Everything measured, as a table for people; `roles` adds how often each role was read as which."""
    lines: list[tuple[str, ...]] = [HEAD]
    for attribute, title in (("source", "by source"), ("layout", "by layout"), ("again", "photos")):
        if parts := _figures(outcomes, attribute):
            lines += [(title,), *(_line(f"  {name}", figures) for name, figures in parts.items())]
    lines.append(_line("total", Figures.of(outcomes)))
    legend = [
        "found, read: of all labelled cards. rank, colour: of those found. whole: of the hands measured; in",
        "order: of the whole ones, those whose cards come as they lie. melds: labelled groups read as such.",
        "ECE: how far the certainty of the cards found and the share of them that is right lie apart.",
        "marked: of the cards found, those that are doubtful wherever a reading is shown. of errors: how",
        "many of those misread bear that mark. extra: sightings on no card. deck: how often told right.",
        measuring.AGAIN,
    ]
    return measuring.report_text(outcomes, lines, legend, (), roles)


def _figures(outcomes: Sequence[Outcome], attribute: str) -> dict[str, Figures]:
    return {name: Figures.of(part) for name, part in split(outcomes, attribute).items()}


def _line(name: str, f: Figures) -> tuple[str, ...]:
    return (
        name,
        str(f.scenes),
        str(f.cards),
        percent(f.found, f.cards),
        percent(f.read, f.cards),
        percent(f.rank, f.found),
        percent(f.colour, f.found),
        "-" if f.calibration is None else percent(f.calibration, 1),
        percent(f.marked, f.found),
        f"{f.errors_marked} of {f.errors}" if f.errors else "-",
        str(f.hands),
        percent(f.whole, f.hands),
        percent(f.ordered, f.in_lines),
        percent(f.groups_right, f.groups),
        str(f.extra),
        percent(f.told, f.asked),
        "-" if f.ms is None else f"{f.ms:.0f}",
    )
