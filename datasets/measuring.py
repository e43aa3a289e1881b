"""What measures of readings share: labels held against sightings, how honest certainty is, and the sheet of
mistakes. `datasets.evaluate` measures tiles with it, `datasets.evaluate_cards` cards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.pieces import Piece, format_pieces
from companion.reading import BACK, Reading, Role, Sighting
from datasets.outcomes import Comparison
from datasets.scenes import NO_CARDS, Label, Scene
from vision.load import Photo, load_photo

IN_SIGHT = 0.6
"""Share of a face that must be in sight for its label to count."""

OWN: tuple[Role, ...] = ("hand", "meld")

SLANTED = 10.0
"""From this slant on (degrees) a row of pieces is slanted."""

MOST_MISTAKES = 15
"""So many kinds of mistakes are told to people, the most frequent ones."""

AGAIN = "photos to be taken again: doubtful ones, dark, glaring, blurred or too small; the reading says so."
"""What people are told of the two kinds of photos."""

MESSY = 8
"""With this many other pieces in sight beside the own ones a table is messy."""


@dataclass(frozen=True, slots=True)
class Match:
    """A label that counts and the sighting that lies on it, if any."""

    label: Label
    sighting: Sighting | None

    @property
    def found(self) -> bool:
        return self.sighting is not None

    @property
    def right(self) -> bool:
        return self.sighting is not None and kind_of(self.sighting.piece) == kind_of(self.label.piece)


@dataclass(frozen=True)
class Outcome:
    """How one scene was read.

    faces: every labelled face that counts. unlabelled: the sightings of faces on no label. whole: whether the
    hand is exactly right, None where that is not measured. left_out: labelled pieces of the hand that were
    found but taken for something else. roles: how often a labelled role was read as which. hand: the text
    of the hand that was read, and of its melds. again: whether the reading asks for a better photo. error:
    why the photo could not be read.
    """

    scene: Scene
    faces: tuple[Match, ...]
    unlabelled: tuple[Sighting, ...] = ()
    whole: bool | None = None
    left_out: int = 0
    roles: tuple[tuple[Role, Role], ...] = ()
    hand: str = ""
    ms: float | None = None
    again: bool = False
    error: str | None = None

    @property
    def labelled(self) -> str:
        """All pieces that the labels give the hand, its melds among them."""
        whole = self.scene.cards or self.scene.labels
        own = (label.piece for label in whole if label.role in (None, *OWN) and label.piece not in NO_CARDS)
        return format_pieces(map(Piece.parse, self.scene.pieces or own))

    @property
    def mistakes(self) -> tuple[Match, ...]:
        return tuple(match for match in self.faces if not match.right)

    @property
    def extra(self) -> tuple[Sighting, ...]:
        return tuple(s for s in self.unlabelled if s.role in OWN)

    @property
    def hard(self) -> tuple[str, ...]:
        """What makes the scene a hard one, if anything: it is `slanted`, or `messy`."""
        others = sum(label.role not in (None, *OWN) for label in self.scene.labels)
        others += sum(s.role not in OWN for s in self.unlabelled)
        kinds = {"slanted": slant(self.scene.labels) >= SLANTED, "messy": others >= MESSY}
        return tuple(name for name, holds in kinds.items() if holds)

    def of_the_hand(self) -> Outcome:
        """The same with the faces of the hand and its melds alone, as the labels of real tables have them."""
        return replace(self, faces=tuple(m for m in self.faces if m.label.role in (None, *OWN)))


def slant(labels: Sequence[Label]) -> float:
    """How far rows of pieces run from the photo's sides, degrees 0-45; 0 for fewer than four pieces.

    It is the median over the pieces of how far the direction to the nearest neighbour is from level or
    upright.
    """
    own = [label for label in labels if label.role in (None, *OWN)]
    if len(own) < 4:
        return 0.0
    box = np.array([label.box for label in own])
    centre = box[:, :2] + box[:, 2:] / 2
    gaps = centre[None] - centre[:, None]
    distance = np.linalg.norm(gaps, axis=2) + np.eye(len(own)) * 1e9
    to_nearest = gaps[np.arange(len(own)), distance.argmin(1)]
    angles = np.degrees(np.arctan2(to_nearest[:, 1], to_nearest[:, 0])) % 90
    return float(np.median(np.minimum(angles, 90 - angles)))


def split(outcomes: Sequence[Outcome], attribute: str) -> dict[str, list[Outcome]]:
    """Outcomes by an attribute of their scene (`source`, `group` or `fold`), by what makes them `hard`, or by
    whether their photo is to be taken `again`; those without it left out.
    """
    parts: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        names: tuple[str | None, ...]
        if attribute == "hard":
            names, outcome = outcome.hard, outcome.of_the_hand()
        elif attribute == "again":
            names = ("to be taken again" if outcome.again else "good enough",)
        else:
            names = (getattr(outcome.scene, attribute),)
        for name in filter(None, names):
            parts.setdefault(name, []).append(outcome)
    return dict(sorted(parts.items()))


def confusions(outcomes: Iterable[Outcome]) -> Counter[tuple[str, str]]:
    """How often a labelled face was read as another, or `missed`."""
    return Counter(
        (m.label.piece, "missed" if m.sighting is None else m.sighting.piece)
        for o in outcomes
        for m in o.mistakes
    )


class Counts(Protocol):
    """Figures over some scenes, as one kind of pieces counts them."""

    def to_document(self) -> dict[str, Any]: ...


def report_document(
    outcomes: Sequence[Outcome],
    total: Counts,
    parts: Mapping[str, Mapping[str, Counts]],
    change: Comparison | None,
) -> dict[str, Any]:
    """Everything measured, JSON-ready. parts: by what the outcomes were split -> each part's figures."""
    limit = limit_that_covers(outcomes)
    return {
        "total": total.to_document(),
        **{
            f"by_{attribute}": {name: figures.to_document() for name, figures in each.items()}
            for attribute, each in parts.items()
        },
        "confusions": [
            {"label": label, "read": said, "count": count}
            for (label, said), count in confusions(outcomes).most_common()
        ],
        "roles": [
            {"label": label, "read": said, "count": count} for (label, said), count in _roles(outcomes)
        ],
        "limit_that_covers": limit and limit.to_document(),
        "unreadable": [{"photo": o.scene.file, "error": o.error} for o in outcomes if o.error is not None],
        **({} if change is None else {"change": change.to_document()}),
    }


def report_text(
    outcomes: Sequence[Outcome],
    lines: Sequence[Sequence[str]],
    legend: Sequence[str],
    remarks: Sequence[str],
    roles: bool,
) -> str:
    """A table for people, what its heads mean, what is to be remarked, and what was read as what; `roles`
    adds how often each role was read as which.
    """
    text = [*table(lines), "", *legend]
    if (limit := limit_that_covers(outcomes)) is not None:
        text.append(limit.text())
    text += remarks
    if mistakes := confusions(outcomes).most_common(MOST_MISTAKES):
        told = ", ".join(f"{label} > {said} {count}" for (label, said), count in mistakes)
        text += ["", "Most frequent mistakes (label > read):", f"  {told}"]
    if roles:
        counts = _roles(outcomes)
        text += ["", "Roles (label > read):" if counts else "The labels tell no roles."]
        text += [f"  {label} > {said} {count}" for (label, said), count in counts]
    text += [f"Not readable: {o.scene.file}: {o.error}" for o in outcomes if o.error is not None]
    return "\n".join(line.rstrip() for line in text)


def _roles(outcomes: Iterable[Outcome]) -> list[tuple[tuple[Role, Role], int]]:
    """How often each labelled role was read as which, in order of their names."""
    return sorted(Counter(pair for o in outcomes for pair in o.roles).items())


def hand_text(reading: Reading) -> str:
    """The hand that was read and its melds, for people."""
    return "; ".join(filter(None, (reading.hand, *map(str, reading.melds))))


def calibration_error(outcomes: Iterable[Outcome], bins: int = 10) -> float | None:
    """Expected calibration error of the found faces (0-1): how far confidence and share right differ."""
    found = [(m.sighting.certainty, m.right) for o in outcomes for m in o.faces if m.sighting is not None]
    if not found:
        return None
    confidence, right = np.array(found, dtype=float).T
    return gap_of_confidence(confidence, right, bins)


def gap_of_confidence(confidence: np.ndarray, right: np.ndarray, bins: int) -> float:
    """Expected calibration error of n confidences (0-1), given whether each was right, over equal bins."""
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    parts = [which == k for k in range(bins)]
    gaps = (abs(np.sum(confidence[part]) - np.sum(right[part])) for part in parts)
    return float(sum(gaps) / len(confidence))


COVER = 0.95
"""Share of the misread faces that the marks are to cover."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Marks on all faces less certain than `below` (0-1): the shares of all and of misread ones they hit."""

    below: float
    marked: float
    covered: float

    def to_document(self) -> dict[str, float]:
        """As JSON-ready data."""
        return {"share": COVER, "below": self.below, "marked": round(self.marked, 4)}

    def text(self) -> str:
        """For people."""
        return (
            f"To cover {COVER:.0%} of the misread faces, those less certain than {self.below:.2f} must be "
            f"marked: {percent(self.marked, 1)} of all."
        )


def limit_that_covers(outcomes: Iterable[Outcome], cover: float = COVER) -> Limit | None:
    """The lowest limit, in whole percent, whose marks cover that share of the misread faces.

    Found faces only. None where none was misread.
    """
    found = [(m.sighting.certainty, m.right) for o in outcomes for m in o.faces if m.sighting is not None]
    if all(right for _, right in found):
        return None
    certainty, right = np.array(found, dtype=float).T
    limits = (
        Limit(percent / 100, float(marked.mean()), float(marked[right == 0].mean()))
        for percent in range(101)
        for marked in (certainty < percent / 100 if percent < 100 else np.ones(len(found), bool),)
    )
    return next(limit for limit in limits if limit.covered >= cover)


def table(lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines of cells, the first being the widest, as text: names to the left, all else to the right."""
    widths = [max(len(line[k]) for line in lines if k < len(line)) for k in range(len(lines[0]))]
    text = []
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=False)]
        text.append("  ".join([line[0].ljust(widths[0]), *cells[1:]]))
    return text


def share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def kind_of(name: str) -> str:
    """What a piece plays as, by name."""
    return name if name == BACK else str(Piece.parse(name).plays_as)


# The sheet of mistakes


def draw_sheet(
    outcomes: Sequence[Outcome], columns: int = 10, side: int = 128, most: int = 400
) -> NDArray[np.uint8] | None:
    """Pictures of the mistakes, `most` of them at most, or None when there are none.

    Each misread or missed piece with its surroundings, what it is and what was said; then what was
    taken for a piece of the hand and is none.
    """
    cells: list[NDArray[np.uint8]] = []
    for outcome in outcomes:
        if outcome.error is not None or len(cells) >= most or not (outcome.mistakes or outcome.extra):
            continue
        photo = load_photo(outcome.scene.path)
        for mistake in outcome.mistakes:
            x, y, w, h = mistake.label.box
            corners = np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)])
            said = "missed" if mistake.sighting is None else mistake.sighting.piece
            quad = None if mistake.sighting is None else np.array(mistake.sighting.quad)
            if not w * h:  # the labels tell no place
                if quad is None:
                    continue
                corners = quad
            cells.append(_cell(photo, corners, quad, f"{mistake.label.piece} > {said}", outcome.scene, side))
        for sighting in outcome.extra:
            quad = np.array(sighting.quad)
            cells.append(_cell(photo, quad, quad, f"nothing > {sighting.piece}", outcome.scene, side))
    if not cells:
        return None
    cells = cells[:most]
    columns = min(columns, len(cells))
    cells += [np.full_like(cells[0], 255)] * (-len(cells) % columns)
    return np.vstack([np.hstack(cells[k : k + columns]) for k in range(0, len(cells), columns)])


def _cell(
    photo: Photo,
    place: NDArray[np.float64],
    quad: NDArray[np.float64] | None,
    text: str,
    scene: Scene,
    side: int,
) -> NDArray[np.uint8]:
    """A square of the photo around a place, the sighting's outline in it; below it the text, the photo's name
    and its folder."""
    place, quad = place / photo.scale, None if quad is None else quad / photo.scale
    low, high = place.min(0), place.max(0)
    half = max(float((high - low).max()) * 0.9, 8.0)
    scale = side / (2 * half)
    shift = side / 2 - scale * (low + high) / 2
    picture = cv2.warpAffine(
        photo.image,
        np.array([[scale, 0, shift[0]], [0, scale, shift[1]]]),
        (side, side),
        flags=cv2.INTER_LINEAR,
    )
    if quad is not None:
        points = np.round(quad * scale + shift).astype(np.int32)
        cv2.polylines(picture, [points], True, (0, 0, 255), 1, cv2.LINE_AA)
    strip = np.full((46, side, 3), 255, np.uint8)
    cv2.putText(strip, text, (3, 14), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (0, 0, 0), 1, cv2.LINE_AA)
    file = Path(scene.file)
    for line, y in ((file.stem, 28), (file.parent.as_posix(), 40)):
        name = line[: side // 6]
        cv2.putText(strip, name, (3, y), cv2.FONT_HERSHEY_SIMPLEX, 0.3, (110, 110, 110), 1, cv2.LINE_AA)
    return np.vstack([picture, strip]).astype(np.uint8)
