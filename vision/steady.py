"""Readings of a camera's frames, steadied: what lies there, what is wrong, and when to take the shot.

`after` takes what was known before and the reading of the next frame, and gives what is known now. Nothing is
kept here: the state is plain data (`Steady`) that travels wherever the frames come from, also through a
browser, so that any server process can answer for any frame.

Tiles are put in their places anew from all that the frames showed of them. Cards hide each other, and which
end of one is in sight tells of its neighbours: they keep the places that the newest frame gave them.

Frames of one camera err alike. So the evidence of many frames is not worth many times that of one: it is
averaged, recent frames counting more, and then counted as `WORTH` frames at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import cv2
import numpy as np

from companion.hand import Meld
from companion.pieces import Piece, format_pieces
from companion.reading import BACK, Candidate, Expectation, Quad, Reading, Sighting
from vision.arrange import Arrangement, arrange
from vision.card_lines import meld_of
from vision.legal import legal_choice
from vision.load import Photo
from vision.quality import DARK, Quality, fault, measure, shorter_sides

TILES, CARDS = "mahjong", "four-color"

KEEP = 0.75
"""What a frame still counts when the next one comes: the last four make most of the reading."""
WORTH = 1.5
"""How many independent looks at a piece many frames are worth at most."""
FLOOR = 1e-3
"""Probability of a name that a frame did not list; `vision.reader` leaves out what is less probable."""
NAMES = 6
"""Names kept for each piece."""
PRESENT = 0.5
"""Share of the (weighted) frames that must have shown a piece, for it to count as lying there."""
FORGOTTEN = 0.1
"""Share below which a piece is forgotten."""
GAP_S = 20.0
"""Seconds without a frame after which nothing is taken over. Another scene is noticed anyway; a slow computer
must not lose what it knows."""
SAME = 0.3
"""Overlap (intersection over union) from which on two quads are the same piece."""
RELATED = 0.35
"""Share of the pieces in sight that must be found again by name, for the frame to show the same scene."""
MOST_PIECES = 200
"""Pieces that are followed; all tiles of a game are 144."""

FRAMES_FULL, FRAMES_SHORT = 4, 8
"""Frames in a row that must agree: for a hand of the largest size, and for a smaller one, which may as well
be a larger one with a piece that is not seen."""
SURE = 0.9
"""Certainty that every piece of the hand needs before the shot is taken. What is doubtful beyond that
(`Sighting.doubtful`) is better looked at in the still shot than waited for."""

CLOSE = 0.3
"""Shorter side of a tile as a share of the frame's shorter side: thirteen of them cannot fit in."""
MOVING = 1.2
"""Tile sides a second; at 1/30 s exposure this smears a tile by a twenty-fifth of its side."""
EDGE = 0.04
"""Tile sides that a quad must stay away from the frame's edge; nearer, part of the tile may be cut off."""
AGREE = 0.35
"""Tile sides by which the shifts of two pieces may differ, for them to have moved together."""
MOST_VOTES = 500
"""Pairs of equal names that are looked at for the motion, the nearest ones."""
LEAST_STEP_S = 0.05
"""Frames closer together in time would make a speed of every tremble."""

Kind = Literal[
    "nothing", "dark", "glare", "blurred", "far", "close", "edge", "moving", "few", "many", "doubtful",
    "hold", "sure",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Advice:
    """What the person at the camera should know now.

    kind: `nothing` (no piece found), `dark`, `glare`, `blurred`, `far`, `close`, `edge` (the hand reaches the
    frame's edge), `moving`, `few` and `many` (pieces for a hand), `doubtful` (one piece above all), `hold`
    (all is well, a moment more), `sure`. count, sizes: pieces read of the hand, and how many a hand may have.
    flowers: how many lie beside them; they are in no count, and nothing waits for them. pieces: for
    `doubtful` what it may be, likeliest first. deck: what is looked for.
    """

    kind: Kind
    count: int = 0
    sizes: tuple[int, ...] = ()
    pieces: tuple[str, ...] = ()
    flowers: int = 0
    deck: str = TILES

    @property
    def text(self) -> str:
        """In English, in a few words.

        >>> Advice("few", 12, (13, 14)).text, Advice("sure", 14, (14,), flowers=2).text
        ('12 of 13 or 14 tiles', '14 tiles + 2 flowers, sure')
        """
        beside = f" + {self.flowers} flower{'s' if self.flowers > 1 else ''}" if self.flowers else ""
        sizes = " or ".join(map(str, self.sizes))
        one = "card" if self.deck == CARDS else "tile"
        return _TEXTS[self.kind].format(
            count=self.count, sizes=sizes, one=one, many=f"{one}s{beside}", pieces=" or ".join(self.pieces)
        )

    def to_document(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {
            "kind": self.kind,
            "text": self.text,
            "count": self.count,
            "sizes": list(self.sizes),
            "flowers": self.flowers,
            "pieces": list(self.pieces),
        }


_TEXTS: dict[Kind, str] = {
    "nothing": "no {one} in sight",
    "dark": "too dark",
    "glare": "glare on the {one}s",
    "blurred": "blurred",
    "far": "too far",
    "close": "too close",
    "edge": "{count} {many}; the hand reaches the edge",
    "moving": "hold still",
    "few": "{count} of {sizes} {many}",
    "many": "{count} {many}; a hand has {sizes}",
    "doubtful": "one {one} is doubtful: {pieces}",
    "hold": "{count} of {sizes} {many}, a moment",
    "sure": "{count} {many}, sure",
}


@dataclass(frozen=True, slots=True)
class Track:
    """A piece that is followed through the frames.

    quad: where it was last, in pixels of the frame. logs: sums of log-probabilities by name, older frames
    weighing less; "" stands for all names not listed. seen: the sum of those weights.
    """

    quad: Quad
    logs: Mapping[str, float]
    seen: float


@dataclass(frozen=True, slots=True)
class Steady:
    """What is known after some frames.

    frames: sum of the weights of all frames since the scene came in sight. at: seconds of the last one. hand:
    the steadied hand and melds, as text, without flowers; held: for how many frames in a row it has been that
    and faultless.
    told: kind of the advice given last; due: what the last frame alone would have said. deck: what was looked
    for.
    """

    tracks: tuple[Track, ...] = ()
    frames: float = 0.0
    at: float = 0.0
    hand: str = ""
    held: int = 0
    told: Kind = "nothing"
    due: Kind = "nothing"
    deck: str = TILES

    def to_document(self) -> dict[str, Any]:
        """As JSON-ready data; `from_document` reads it back."""
        tracks = [
            {
                "quad": [[round(x, 1), round(y, 1)] for x, y in track.quad],
                "logs": {name: round(value, 3) for name, value in track.logs.items()},
                "seen": round(track.seen, 4),
            }
            for track in self.tracks
        ]
        rest = {name: getattr(self, name) for name in _PLAIN}
        return {"tracks": tracks, **rest, "frames": round(self.frames, 4)}

    @staticmethod
    def from_document(document: Mapping[str, Any]) -> Steady:
        """The state of a document in the form of `to_document`; whoever takes it from outside checks it."""
        tracks = tuple(
            Track(tuple((x, y) for x, y in one["quad"]), dict(one["logs"]), one["seen"])  # type: ignore[arg-type]
            for one in document["tracks"]
        )
        return Steady(tracks, **{name: document[name] for name in _PLAIN})


_PLAIN = ("frames", "at", "hand", "held", "told", "due", "deck")


@dataclass(frozen=True, slots=True)
class View:
    """What one more frame came to.

    state: for the next call. reading: the steadied one, in pixels of this frame. advice: steadied too, so
    that its words can be read. progress: 0-1, how much of the agreement that a shot needs is there.
    """

    state: Steady
    reading: Reading
    advice: Advice
    progress: float

    @property
    def sure(self) -> bool:
        """Take the shot now."""
        return self.advice.kind == "sure"


def told_of(expectation: Expectation | None) -> dict[str, Any]:
    """What a reader of frames is told, as keywords of `vision.reader.Reader.read`: the deck, and for cards,
    which keep the places that it gives them, what to expect. Tiles are arranged when frames are put together.
    """
    deck = (expectation and expectation.deck) or TILES
    return {"deck": deck, "expectation": expectation} if deck == CARDS else {"deck": deck}


def see(
    read: Callable[[Photo], Reading],
    photo: Photo,
    at: float,
    before: Steady | None,
    expectation: Expectation | None = None,
) -> View:
    """Read one frame, measure its light and sharpness, and add it to what is known: `after` for a picture.

    read: reads a photo, as `vision.reader.Reader.read` does when it is told `told_of` the expectation.
    """
    reading = read(photo)
    own = [s.quad for s in reading.sightings if s.role in ("hand", "meld")]
    quality = measure(photo.image, own or [s.quad for s in reading.sightings], photo.scale)
    return after(before, reading, at, quality, expectation)


def after(
    before: Steady | None,
    reading: Reading,
    at: float,
    quality: Quality | None = None,
    expectation: Expectation | None = None,
) -> View:
    """What is known after one more frame.

    reading: of that frame alone. at: when it was taken, seconds on any clock that the frames share. quality:
    of its pieces; without, nothing is said on light and blur. expectation: sizes of a hand, and the deck that
    the frames were read for, tiles where it names none.
    """
    expected = expectation or Expectation()
    deck = expected.deck or TILES
    state = before or Steady(deck=deck)
    if not state.at <= at <= state.at + GAP_S or state.deck != deck:
        state = Steady(deck=deck)
    seen = reading.sightings[:MOST_PIECES]
    frame = (reading.width, reading.height)
    tracks, speed = _moved(state.tracks, seen, frame, max(at - state.at, LEAST_STEP_S))
    pairs = _same(tracks, seen)
    lying = sum(track.seen >= PRESENT * state.frames for track in tracks)
    again = sum(_best(tracks[i]) == seen[j].piece for i, j in pairs.items())
    if not tracks or again < RELATED * min(lying, len(seen)):
        # Another scene, or the first tiles in sight: nothing of what was before counts.
        state, tracks, pairs, speed = replace(state, frames=0.0, held=0), [], {}, 0.0
    frames = KEEP * state.frames + 1
    tracks = _followed(tracks, seen, pairs, frames)
    lying_now = [track for track in tracks if track.seen >= PRESENT * frames]
    if deck == CARDS:
        placed = _as_they_lie(reading, lying_now, expected)
    else:
        placed = arrange([_sighting(track) for track in lying_now], *frame, expected)
    steadied = replace(
        reading,
        deck=deck if placed.sightings else None,
        sightings=placed.sightings,
        melds=placed.melds,
        warnings=placed.warnings,
        winning=placed.winning,
        unnamed=placed.unnamed,
    )
    hand = _text_of(steadied)
    advice = _fault(steadied, quality, speed, expected)
    held, progress = 0, 0.0
    if advice is None:
        held = state.held + 1 if hand == state.hand else 1
        count = size_of(steadied)
        needed = FRAMES_FULL if count == max(expected.sizes, default=count) else FRAMES_SHORT
        sizes = (max(expected.sizes, default=count),)
        advice = Advice("sure" if held >= needed else "hold", count, sizes)
        progress = min(held / needed, 1.0)
    # One frame alone changes no words, but what was sure or doubtful before need not be so now.
    lasting = state.frames and advice.kind != "sure" and state.told not in ("sure", "doubtful")
    kind = state.told if lasting and advice.kind != state.due else advice.kind
    known = Steady(tuple(tracks), frames, at, hand, held, kind, advice.kind, deck)
    beside = sum(s.role == "hand" and _is_flower(s) for s in steadied.sightings)
    return View(known, steadied, replace(advice, kind=kind, flowers=beside, deck=deck), progress)


def _as_they_lie(reading: Reading, tracks: Sequence[Track], expected: Expectation) -> Arrangement:
    """The cards of a frame where they lie in it, named as all frames together show them; without those that
    only this frame shows."""
    by_quad = {track.quad: track for track in tracks}
    lying = [s for s in reading.sightings if s.quad in by_quad]
    chosen = legal_choice([_sighting(by_quad[s.quad]).candidates for s in lying], expected.copies)
    named = [replace(s, candidates=ranked) for s, ranked in zip(lying, chosen, strict=True)]
    melds: list[Meld] = []
    group_of: dict[int | None, int] = {}
    for group in range(len(reading.melds)):
        names = [s.piece for s in named if s.group == group]
        if names and (meld := meld_of(names)):
            group_of[group] = len(melds)
            melds.append(meld)
    placed = [
        s if s.role != "meld"
        else replace(s, group=group_of[s.group]) if s.group in group_of
        else replace(s, role="hand", group=None)
        for s in named
    ]  # fmt: skip
    return Arrangement(tuple(placed), tuple(melds), reading.warnings)


def _is_flower(sighting: Sighting) -> bool:
    return sighting.piece[-1] == "f"


def _text_of(reading: Reading) -> str:
    """The hand and its melds, what must not change while the shot is waited for; flowers may."""
    held = (s.piece for s in reading.sightings if s.role == "hand" and s.piece != BACK and not _is_flower(s))
    return "; ".join((format_pieces(map(Piece.parse, held)), *map(str, reading.melds)))


def size_of(reading: Reading) -> int:
    """Pieces of the hand and its melds; of tiles flowers and the fourth pieces of kongs are left out."""
    held = sum(s.role == "hand" and s.piece != BACK and not _is_flower(s) for s in reading.sightings)
    most = 4 if reading.deck == CARDS else 3
    return held + sum(min(len(meld.pieces), most) for meld in reading.melds) + 3 * len(reading.unnamed)


def _fault(reading: Reading, quality: Quality | None, speed: float, expected: Expectation) -> Advice | None:
    """Why the shot should not be taken, None when nothing speaks against it. Flowers never do."""
    own = [
        s for s in reading.sightings if s.role in ("hand", "meld") and s.piece != BACK and not _is_flower(s)
    ]
    if not own:
        return Advice("dark" if quality and quality.brightness < DARK else "nothing")
    count, sizes = size_of(reading), expected.sizes
    if speed > MOVING:
        return Advice("moving", count, sizes)
    fits = not sizes or count in sizes
    doubted = min(own, key=lambda s: s.certainty)
    if (
        fits
        and doubted.certainty >= SURE
        and (count == max(sizes, default=count) or not _at_edge(reading, own))
    ):
        return None
    if bad := _bad_view(reading, own, quality, fits):
        return Advice(bad, count, sizes)
    if not fits:
        return Advice("few" if count < max(sizes) else "many", count, sizes)
    return Advice("doubtful", count, sizes, tuple(c.piece for c in doubted.candidates[:2]))


def _bad_view(reading: Reading, own: Sequence[Sighting], quality: Quality | None, fits: bool) -> Kind | None:
    """What is wrong with the view, the cause before the effect."""
    side = float(np.median(shorter_sides(_corners(own))))
    bad = fault(quality, side, reading.deck or TILES)
    if bad is not None:
        return bad
    if not fits and side > CLOSE * min(reading.width, reading.height):
        return "close"
    return "edge" if _at_edge(reading, own) else None


def _at_edge(reading: Reading, own: Sequence[Sighting]) -> bool:
    corners = _corners(own)
    margin = EDGE * float(np.median(shorter_sides(corners)))
    return bool(
        np.any(corners < margin) or np.any(corners > np.array([reading.width, reading.height]) - margin)
    )


# Following pieces from frame to frame


def find_motion(tracks: Sequence[Track], sightings: Sequence[Sighting]) -> np.ndarray:
    """How the picture moved since the tracks were seen: a matrix (2, 3) that takes old pixels to new ones.

    Every track votes for the shifts that bring it onto a sighting of the same name; the shift with most votes
    wins, the smallest of equal ones, and is refined to a shift with turn and zoom. No shift without votes.
    """
    still = np.eye(2, 3)
    if not tracks or not sightings:
        return still
    old, new = _corners(tracks), _corners(sightings)
    size = float(np.median(shorter_sides(old)))
    names = np.array([_best(track) for track in tracks])
    i, j = np.nonzero(names[:, None] == np.array([s.piece for s in sightings]))
    if not len(i):
        return still
    shifts = new.mean(1)[j] - old.mean(1)[i]
    far = np.linalg.norm(shifts, axis=1) / size
    nearest = np.argsort(far, kind="stable")[:MOST_VOTES]
    i, j, shifts, far = i[nearest], j[nearest], shifts[nearest], far[nearest]
    agree = np.linalg.norm(shifts[:, None] - shifts[None], axis=2) < AGREE * size
    best = int(np.argmax(agree.sum(1) - 0.01 * far))
    voters = agree[best]
    found = still.copy()
    found[:, 2] = shifts[voters].mean(0)
    if voters.sum() >= 3:
        start, end = old.mean(1)[i[voters]], new.mean(1)[j[voters]]
        finer, _ = cv2.estimateAffinePartial2D(
            start.astype(np.float32), end.astype(np.float32), ransacReprojThreshold=0.15 * size
        )
        if finer is not None and 0.8 < float(np.linalg.norm(finer[:, 0])) < 1.25:
            return np.asarray(finer)
    return found


def _moved(
    tracks: Sequence[Track], seen: Sequence[Sighting], frame: tuple[int, int], seconds: float
) -> tuple[list[Track], float]:
    """The tracks where the picture's motion has brought them, those out of the frame left out, and the median
    speed of them all, tile sides a second."""
    if not tracks:
        return [], 0.0
    motion = find_motion(tracks, seen)
    old = _corners(tracks)
    new = old @ motion[:, :2].T + motion[:, 2]
    middles = new.mean(1)
    steps = np.linalg.norm(middles - old.mean(1), axis=1)
    speed = float(np.median(steps) / max(np.median(shorter_sides(old)), 1.0)) / seconds
    inside = np.all((middles > 0) & (middles < frame), axis=1)
    return [
        replace(track, quad=tuple((float(x), float(y)) for x, y in quad))  # type: ignore[arg-type]
        for track, quad, within in zip(tracks, new, inside, strict=True)
        if within
    ], speed


def _same(tracks: Sequence[Track], seen: Sequence[Sighting]) -> dict[int, int]:
    """Which sighting each track is (index by index): those that overlap most first."""
    if not tracks or not seen:
        return {}
    old, new = _corners(tracks), _corners(seen)
    away = np.linalg.norm(old.mean(1)[:, None] - new.mean(1)[None], axis=2)
    overlaps = []
    for i, j in np.argwhere(away < np.maximum(shorter_sides(old)[:, None], shorter_sides(new))):
        a, b = old[i].astype(np.float32), new[j].astype(np.float32)
        shared = cv2.intersectConvexConvex(a, b)[0]
        both = abs(cv2.contourArea(a)) + abs(cv2.contourArea(b)) - shared
        if both > 0 and shared / both >= SAME:
            overlaps.append((shared / both, int(i), int(j)))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, i, j in sorted(overlaps, reverse=True):
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return pairs


def _followed(
    tracks: Sequence[Track], seen: Sequence[Sighting], pairs: Mapping[int, int], frames: float
) -> list[Track]:
    """The tracks with what this frame says of them, new ones for what was not followed yet."""
    kept = []
    for i, track in enumerate(tracks):
        logs = {name: KEEP * value for name, value in track.logs.items()}
        now = Track(track.quad, logs, KEEP * track.seen)
        if i in pairs:
            now = _with_look(now, seen[pairs[i]])
        if now.seen >= FORGOTTEN * frames:
            kept.append(now)
    found = set(pairs.values())
    kept += [_with_look(Track(s.quad, {}, 0.0), s) for j, s in enumerate(seen) if j not in found]
    return kept[:MOST_PIECES]


def _with_look(track: Track, sighting: Sighting) -> Track:
    """The track with one more look at its piece."""
    chances = {c.piece: c.confidence for c in sighting.candidates}
    chances[""] = 1 - sum(chances.values())
    unseen = track.seen * math.log(FLOOR)
    logs = {
        name: track.logs.get(name, unseen) + math.log(max(chances.get(name, 0.0), FLOOR))
        for name in {**track.logs, **chances}
    }
    best = sorted((name for name in logs if name), key=lambda name: -logs[name])[:NAMES]
    return Track(sighting.quad, {name: logs[name] for name in (*best, "")}, track.seen + 1)


def _best(track: Track) -> str:
    return max((name for name in track.logs if name), key=lambda name: track.logs[name], default="")


def _sighting(track: Track) -> Sighting:
    """The piece of a track as all frames together show it."""
    weight = min(track.seen, WORTH) / max(track.seen, 1e-6)
    top = max(track.logs.values())
    chances = {name: math.exp(weight * (value - top)) for name, value in track.logs.items()}
    total = sum(chances.values())
    ranked = sorted((name for name in chances if name), key=lambda name: -chances[name])
    return Sighting(track.quad, tuple(Candidate(name, chances[name] / total) for name in ranked))


def _corners(pieces: Sequence[Track] | Sequence[Sighting]) -> np.ndarray:
    """Corners (n, 4, 2)."""
    return np.array([piece.quad for piece in pieces], np.float64).reshape(-1, 4, 2)
