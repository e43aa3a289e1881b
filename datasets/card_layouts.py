"""Ways four-color cards lie in photos: fans, rows, columns with only the tops showing, melds, games; what
they lie on, and where a camera sees them.

`arrange_cards` lays them out, `card_points` says where in space each point of a card is, and `true_cards`
tells the truth of a picture from what each pixel shows. How the picture is made is the business of
`datasets.card_drawing` (fast) and `datasets.path_traced` (physical light). The table is a plane in units of a
card's width; cards lie on each other in the order of their `level`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np

from datasets.art import read_picture
from datasets.cards import (
    JOKERS,
    PIECES,
    CardDeck,
    common_characters,
    full_fonts,
    glyph,
    print_ink,
    random_deck,
    usable_fonts,
)
from datasets.layouts import NOT_TABLES
from datasets.render import Camera

REFUSED = ("title", "blank", "back")
"""What lies among the cards and is none."""

TEXTURE = 640
"""Longer side of a table's texture, pixels."""

THICKNESS = 0.02
"""How far a card lies above the one beneath it, widths."""

CONTRAST = 8.0
"""Print and paper of an end that is in sight differ by so many grey levels."""
AS_DRAWN = 0.65
"""The strokes of an end that is in sight correlate so far with those that were printed. Of the 60 with the
lowest correlations among 3,094, looked at enlarged, hardly any below this can be read, and most above 0.72.
"""
SWALLOWED = 0.1
"""The share in sight of an end whose print is not."""


@dataclass(frozen=True)
class Odds:
    """How often scenes of cards show what is easily misread, 0-1 each.

    none: cards that are none lie beside the others. amid: and in their row. wordy: words stand in the middle
    of cards, marks at their tips. alike: neighbours are often equal. lettered, printed: they lie on newspaper
    or cloth with letters; on cloth with a pattern. tinted: light beyond what a phone's white balance takes
    away. dim: hardly any light.
    """

    none: float = 0.15
    amid: float = 0.02
    wordy: float = 0.3
    alike: float = 0.06
    lettered: float = 0.1
    printed: float = 0.05
    tinted: float = 0.3
    dim: float = 0.04


TRYING = Odds(0.6, 0.2, 0.7, 0.45, 0.25, 0.2, 0.6, 0.15)
"""Scenes that show more of it than most photos do, to learn from."""


@dataclass(frozen=True)
class CardMaterial:
    """What scenes of cards are made of: font files, those for rare glyphs, table textures (uint8 BGR).
    trying: the share of scenes that show more of what is easily misread (`TRYING`) than usual. framed: the
    phone is turned as the cards lie and they fill the picture, as one takes a photo to have them read; else a
    quarter of the photos leaves much room, and the phone is held as it comes."""

    fonts: tuple[str, ...]
    spare: tuple[str, ...]
    tables: tuple[np.ndarray, ...]
    trying: float = 0.0
    framed: bool = False


@dataclass(frozen=True)
class PlacedCard:
    """A card on the table.

    piece: its name, or one of `REFUSED`. x, y: its centre, card widths; y grows away from the near edge. yaw:
    its turn, radians, counter-clockwise; at 0 its upper end points away from the viewer. level: place in the
    pile. curl: how high its middle stands above its ends (below 0: its ends above the middle), widths. row,
    place: which row, fan or column it belongs to and its place there. role, group: as in a reading. lift: how
    high the middle of its plane lies above the table, widths; None: by its level. lean: how much higher that
    plane gets per width across and along the card.
    """

    piece: str
    x: float
    y: float
    yaw: float
    level: int
    curl: float = 0.0
    row: int = 0
    place: int = 0
    role: str = "hand"
    group: int | None = None
    lift: float | None = None
    lean: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class CardEnd:
    """One end of a card in a picture: its framed glyph, (4, 2) pixels from its own top-left, clockwise, and
    the share of it that nothing covers."""

    quad: np.ndarray
    visible: float


@dataclass(frozen=True)
class SceneCard:
    """A card of a picture: as placed, its quad, the share of it in sight, and its two ends (those of a
    refused card bear no glyph)."""

    card: PlacedCard
    quad: np.ndarray
    visible: float
    ends: tuple[CardEnd, CardEnd]


@dataclass(frozen=True)
class Spread:
    """Cards as they lie before a camera. reach: how far from the middle of the table they lie, widths. odds:
    how often such a scene shows what is easily misread."""

    layout: str
    deck: CardDeck
    cards: tuple[PlacedCard, ...]
    camera: Camera
    reach: float
    odds: Odds = Odds()


@dataclass(frozen=True)
class Tabletop:
    """What the cards lie on: a picture (uint8 BGR), half the width of the table that it covers, and its turn,
    radians."""

    picture: np.ndarray
    span: float
    turn: float

    def corners(self) -> np.ndarray:
        """Where the picture's corners lie on the table, (4, 2), from its top-left clockwise."""
        corners = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]) * self.span
        cos, sin = np.cos(self.turn), np.sin(self.turn)
        return np.asarray(corners @ np.array([[cos, sin], [-sin, cos]]))


@dataclass
class CardScene:
    """A rendered picture, (height, width, 3) uint8 BGR, and the cards in it."""

    image: np.ndarray
    layout: str
    cards: list[SceneCard] = field(default_factory=list)


def load_card_material(
    folder: Path,
    part: str = "train",
    texture: int = TEXTURE,
    trying: float = 0.0,
    unpacked: Path | None = None,
    framed: bool = False,
) -> CardMaterial:
    """Fonts and table textures of the data folder; `part` and `unpacked` as in `full_fonts`, `texture` the
    longer side of a table's texture, pixels, `trying` and `framed` as in `CardMaterial`."""
    tables = []
    for path in sorted((folder / "backgrounds").glob("*.jpg")):
        if not path.stem.startswith(NOT_TABLES):
            picture = read_picture(path)
            scale = texture / max(picture.shape[:2])
            tables.append(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))
    fonts, spare = usable_fonts(folder, part), full_fonts(folder, part, unpacked)
    return CardMaterial(fonts, spare, tuple(tables), trying, framed)


# ---- which cards, and where ----


def draw_cards(count: int, rng: np.random.Generator) -> list[str]:
    """Cards as a hand may hold them: four of a kind at most, sometimes jokers, often sorted."""
    jokers = JOKERS if rng.random() < 0.3 else ()
    pool = [*PIECES * 4, *jokers]
    if rng.random() < 0.5:
        # Hands are collected: few kinds, many of them.
        kinds = [PIECES[int(k)] for k in rng.permutation(len(PIECES))[: max(6, count // 2)]]
        pool = [*kinds * 4, *jokers]
    chosen = [pool[int(k)] for k in rng.permutation(len(pool))[:count]]
    if rng.random() < 0.6:
        order = {suit: number for number, suit in enumerate(rng.permutation(list("yrwgj")))}
        chosen.sort(key=lambda piece: (order[piece[1]], PIECES.index(piece) if piece in PIECES else 0))
    return chosen


def _fan(names: Sequence[str], deck: CardDeck, rng: np.random.Generator) -> list[PlacedCard]:
    """Cards around a pivot below them, each over its neighbour."""
    count = len(names)
    below = rng.uniform(-0.3, 1.3) * deck.length
    # A hand shows most of each glyph, and opens no wider than fingers do.
    shown = rng.uniform(0.5, 1.1)
    widest = np.radians(rng.uniform(90, 200))
    outer = max(below + deck.length, 0.75 * deck.length, shown * (count - 1) / widest)
    radius = outer - deck.length / 2
    step = shown / (outer - deck.top)
    rightmost_on_top = rng.random() < 0.7
    wobble, tilt = rng.uniform(0, 0.12), rng.normal(0, 0.15)
    cards = []
    for place, name in enumerate(names):
        angle = ((count - 1) / 2 - place) * step + rng.normal(0, wobble * step) + tilt
        far = radius + rng.normal(0, wobble * 1.2)
        cards.append(
            PlacedCard(
                name,
                -far * np.sin(angle),
                far * np.cos(angle),
                angle + rng.normal(0, 0.02),
                place if rightmost_on_top else count - 1 - place,
                place=place,
            )
        )
    return cards


def _line(
    names: Sequence[str],
    step: float,
    rng: np.random.Generator,
    *,
    along: bool = False,
    x: float = 0.0,
    y: float = 0.0,
    level: int = 0,
    turned: float = 0.0,
    row: int = 0,
    wobble: float = 0.04,
) -> list[PlacedCard]:
    """Cards side by side, or, when `along`, each pushed down along the one before; the last one lies on top.

    turned: how often a card lies upside-down, which changes nothing but its wear.
    """
    last_on_top = along or rng.random() < 0.75
    drift = rng.normal(0, 0.03)
    cards = []
    for place, name in enumerate(names):
        way = place * step
        px, py = (x + drift * way, y - way) if along else (x + way, y + drift * way)
        cards.append(
            PlacedCard(
                name,
                px + rng.normal(0, wobble),
                py + rng.normal(0, wobble),
                rng.normal(0, wobble * 0.8) + (np.pi if rng.random() < turned else 0.0),
                level + (place if last_on_top else len(names) - place),
                row=row,
                place=place,
            )
        )
    return cards


def _row(
    names: Sequence[str], deck: CardDeck, rng: np.random.Generator, y: float = 0.0, row: int = 0
) -> list[PlacedCard]:
    step = rng.uniform(0.45, 1.0) if rng.random() < 0.6 else rng.uniform(1.0, 1.25)
    return _line(names, step, rng, y=y, row=row, wobble=rng.uniform(0, 0.08))


def _column(names: Sequence[str], deck: CardDeck, rng: np.random.Generator) -> list[PlacedCard]:
    """One to four columns of which only the tops show, but for the last card."""
    columns = int(rng.integers(1, 5)) if len(names) > 6 else 1
    shown = deck.top + deck.size[1] * rng.uniform(0.9, 1.25) + rng.uniform(0, 0.25)
    cuts = np.array_split(np.arange(len(names)), columns)
    cards = []
    for number, cut in enumerate(cuts):
        part = [names[int(k)] for k in cut]
        cards += _line(part, shown, rng, along=True, x=number * rng.uniform(1.15, 1.9), row=number)
    return cards


MELDS = ("single", "pair", "chow", "pung", "kong", "soldiers")


def _meld(rng: np.random.Generator) -> list[str]:
    kind = MELDS[int(rng.choice(6, p=[0.12, 0.2, 0.26, 0.18, 0.14, 0.1]))]
    piece = PIECES[int(rng.integers(len(PIECES)))]
    if kind == "single":
        return [str(rng.choice([f"K{piece[1]}", *JOKERS[:2]], p=[0.7, 0.15, 0.15]))]
    if kind == "chow":
        return [rank + piece[1] for rank in ("KAE", "RHC")[int(rng.integers(2))]]
    if kind == "soldiers":
        return [f"P{suit}" for suit in "yrwg"][: int(rng.integers(3, 5))]
    return [piece] * {"pair": 2, "pung": 3, "kong": 4}[kind]


def _melds(
    count: int, deck: CardDeck, rng: np.random.Generator, y: float = 0.0, first_row: int = 0
) -> list[PlacedCard]:
    """Groups of one to four cards set apart, in lines."""
    cards: list[PlacedCard] = []
    x = 0.0
    across = int(rng.integers(3, 8))
    row = first_row
    stacked = rng.random() < 0.2
    for group in range(count):
        if group and group % across == 0:
            x, row = 0.0, row + 1
            y -= deck.length * (1.0 if not stacked else 1.5) + rng.uniform(0.15, 0.8)
        names = _meld(rng)
        if stacked:
            step = deck.top + deck.size[1] * 1.15
            part = _line(names, step, rng, along=True, x=x, y=y, row=row)
        else:
            part = _line(names, rng.uniform(0.5, 1.08), rng, x=x, y=y, row=row)
        if len(part) > 2 and rng.random() < 0.3:
            # The claimed card lies under the second one.
            part[0] = replace(part[0], level=-1, y=part[0].y + rng.uniform(0, 0.4))
        cards += [replace(card, role="meld", group=group) for card in part]
        x = max(card.x for card in part) + 1 + rng.uniform(0.25, 0.9)
    return cards


def _count(rng: np.random.Generator) -> int:
    return int(rng.choice([20, 21, 21, 30, 31, int(rng.integers(5, 32)), int(rng.integers(5, 20))]))


Placer = Callable[[CardDeck, np.random.Generator], list[PlacedCard]]


def _game(deck: CardDeck, rng: np.random.Generator) -> list[PlacedCard]:
    """The own hand near the edge, melds before it, discards beyond."""
    held = draw_cards(int(rng.integers(5, 22)), rng)
    cards = _fan(held, deck, rng) if rng.random() < 0.4 else _row(held, deck, rng)
    top = max(card.y for card in cards) + deck.length / 2
    left = min(card.x for card in cards)
    melds = _melds(int(rng.integers(1, 6)), deck, rng, first_row=1)
    depth = max(card.y for card in melds) - min(card.y for card in melds)
    lift = top + deck.length / 2 + depth + rng.uniform(0.4, 1.5)
    cards += [replace(card, x=card.x + left + rng.uniform(0, 2), y=card.y + lift) for card in melds]
    far = lift + deck.length * 1.2
    for name in draw_cards(int(rng.integers(0, 14)), rng):
        x, y = left + rng.uniform(0, 14), far + rng.uniform(0, 7)
        cards.append(PlacedCard(name, x, y, rng.uniform(-np.pi, np.pi), int(rng.integers(9)), role="other"))
    return cards


def _scatter(deck: CardDeck, rng: np.random.Generator) -> list[PlacedCard]:
    count = int(rng.integers(3, 22))
    spread = np.sqrt(count * deck.length) * rng.uniform(0.5, 0.9)
    cards = []
    for level, name in enumerate(draw_cards(count, rng)):
        x, y = rng.uniform(-spread, spread, 2)
        cards.append(PlacedCard(name, x, y, rng.uniform(-np.pi, np.pi), level, place=level))
    return cards


LAYOUTS: dict[str, tuple[Placer, float]] = {
    "fan": (lambda deck, rng: _fan(draw_cards(_count(rng), rng), deck, rng), 0.34),
    "row": (lambda deck, rng: _row(draw_cards(_count(rng), rng), deck, rng), 0.14),
    "rows": (
        lambda deck, rng: [
            card
            for row in range(int(rng.integers(2, 4)))
            for card in _row(
                draw_cards(int(rng.integers(4, 12)), rng),
                deck,
                rng,
                -row * (deck.length + rng.uniform(0.1, 0.8)),
                row,
            )
        ],
        0.08,
    ),
    "column": (lambda deck, rng: _column(draw_cards(_count(rng), rng), deck, rng), 0.14),
    "melds": (lambda deck, rng: _melds(int(rng.integers(2, 9)), deck, rng), 0.14),
    "game": (_game, 0.08),
    "scatter": (_scatter, 0.04),
    "close-up": (lambda deck, rng: _row(draw_cards(int(rng.integers(1, 5)), rng), deck, rng), 0.03),
    "empty": (lambda deck, rng: [], 0.01),
}
"""Each layout and how often it is drawn."""


# ---- where they are in space and in pictures ----


def card_corners(deck: CardDeck) -> np.ndarray:
    """The corners of a card in its own coordinates, (4, 2), from its top-left clockwise."""
    return np.array([[0, 0], [1, 0], [1, deck.length], [0, deck.length]], float)


def card_rise(card: PlacedCard, deck: CardDeck, along: np.ndarray) -> np.ndarray:
    """How far its curl lifts a card, widths, at places `along` it, widths from its middle."""
    bow = 1 - (2 * along / deck.length) ** 2
    return card.curl * bow if card.curl >= 0 else -card.curl * (1 - bow)


def card_points(card: PlacedCard, deck: CardDeck, points: np.ndarray) -> np.ndarray:
    """Table points (n, 3) of points (n, 2) in card coordinates."""
    across, along = points[:, 0] - 0.5, deck.length / 2 - points[:, 1]
    cos, sin = np.cos(card.yaw), np.sin(card.yaw)
    base = card.level * THICKNESS if card.lift is None else card.lift
    return np.stack(
        [
            card.x + across * cos - along * sin,
            card.y + across * sin + along * cos,
            base + card_rise(card, deck, along) + across * card.lean[0] + along * card.lean[1],
        ],
        1,
    )


def card_quad(card: PlacedCard, deck: CardDeck, camera: Camera, corners: np.ndarray) -> np.ndarray:
    """Pixels (n, 2) of points (n, 2) in card coordinates."""
    return camera.project(card_points(card, deck, corners))


def _camera(
    cards: Sequence[PlacedCard],
    deck: CardDeck,
    rng: np.random.Generator,
    width: int,
    height: int,
    framed: bool,
) -> Camera:
    """A camera that has the cards in its picture, whole or nearly so; `framed` as in `CardMaterial`."""
    whole = card_corners(deck)
    points = [card_points(card, deck, whole) for card in cards] or [np.array([[-6, -6, 0], [6, 6, 0]], float)]
    every = np.concatenate(points)
    middle = (every.min(0) + every.max(0)) / 2
    focal = rng.uniform(0.75, 1.4)
    elevation = np.radians(rng.uniform(42, 90))
    azimuth = rng.normal(0, 0.35) if rng.random() < 0.8 else rng.uniform(-np.pi, np.pi)
    roll = rng.normal(0, 0.08) + (rng.choice([-1, 1, 2]) * np.pi / 2 if rng.random() < 0.12 else 0.0)
    off = rng.normal(0, 0.06, 2) * float(np.ptp(every[:, 0]) + 1)
    target = (float(middle[0] + off[0]), float(middle[1] + off[1]), 0.0)

    def nearest(width: int, height: int) -> float:
        """As near as the cards still fit."""
        for distance in np.geomspace(2, 200, 60):
            camera = Camera.looking(target, distance, elevation, azimuth, roll, focal, width, height)
            seen = camera.project(every)
            if np.isfinite(seen).all() and (seen > -3).all() and (seen < (width + 3, height + 3)).all():
                break
        return float(distance)

    if framed:
        width, height = min(((width, height), (height, width)), key=lambda shape: nearest(*shape))
    room = rng.uniform(1.02, 1.3) if framed or rng.random() < 0.75 else rng.uniform(1.3, 2.2)
    distance = nearest(width, height) * room
    return Camera.looking(target, distance, elevation, azimuth, roll, focal, width, height)


def true_cards(
    cards: Sequence[PlacedCard], deck: CardDeck, camera: Camera, owner: np.ndarray
) -> list[SceneCard]:
    """The cards in sight. owner: which of `cards` each pixel shows, below 0 for none."""
    whole = card_corners(deck)
    counts = np.bincount(owner[owner >= 0].ravel(), minlength=len(cards))
    found = []
    for number, card in enumerate(cards):
        quad = card_quad(card, deck, camera, whole)
        if not np.isfinite(quad).all() or counts[number] < 20:
            continue
        ends = []
        for corners in deck.end_quads():
            end = card_quad(card, deck, camera, corners)
            ends.append(CardEnd(end, _share(owner, number, end)))
        visible = min(1.0, counts[number] / max(1.0, cv2.contourArea(quad.astype(np.float32))))
        found.append(SceneCard(card, quad, float(visible), (ends[0], ends[1])))
    return found


def with_print_in_sight(
    cards: Sequence[SceneCard], image: np.ndarray, drawn: np.ndarray | None = None
) -> list[SceneCard]:
    """The cards of a picture, (height, width, 3) uint8 BGR, with ends whose print is swallowed by glare,
    darkness or blur as hardly in sight: nothing tells there which card it is. drawn: the same picture before
    light and lens; without it blur is not looked at.
    """
    seen_as = [cv2.cvtColor(each, cv2.COLOR_BGR2GRAY) for each in (image, drawn) if each is not None]
    smooth = cv2.GaussianBlur(seen_as[0], (0, 0), 1.0)
    side = np.array([[0, 0], [31, 0], [31, 31], [0, 31]], np.float32)

    def shows(end: CardEnd) -> bool:
        warp = cv2.getPerspectiveTransform(end.quad.astype(np.float32), side)
        dark, light = np.percentile(cv2.warpPerspective(smooth, warp, (32, 32)), (3, 97))
        if light - dark < CONTRAST:
            return False
        strokes = [_strokes(cv2.warpPerspective(grey, warp, (32, 32))) for grey in seen_as]
        return len(strokes) < 2 or float((strokes[0] * strokes[1]).sum()) >= AS_DRAWN

    def seen(end: CardEnd) -> CardEnd:
        return end if shows(end) else replace(end, visible=min(end.visible, SWALLOWED))

    return [replace(card, ends=(seen(card.ends[0]), seen(card.ends[1]))) for card in cards]


def _strokes(face: np.ndarray) -> np.ndarray:
    """What is finer than the whole in the middle of an end, (32, 32) grey: of length 1."""
    fine = cv2.GaussianBlur(face.astype(np.float32), (0, 0), 0.5)
    part = (fine - cv2.GaussianBlur(fine, (0, 0), 3))[6:26, 6:26]
    return np.asarray(part / max(float(np.linalg.norm(part)), 1e-6))


def _share(owner: np.ndarray, number: int, quad: np.ndarray) -> float:
    """The share of a quad that shows the card of this number."""
    low = np.maximum(np.floor(quad.min(0)).astype(int), 0)
    high = np.minimum(np.ceil(quad.max(0)).astype(int) + 1, owner.shape[1::-1])
    if (high <= low).any():
        return 0.0
    mask = np.zeros((high[1] - low[1], high[0] - low[0]), np.uint8)
    cv2.fillConvexPoly(mask, np.round((quad - low) * 8).astype(np.int32), 1, cv2.LINE_8, 3)
    seen = np.count_nonzero((owner[low[1] : high[1], low[0] : high[0]] == number) & (mask > 0))
    return float(min(1.0, seen / max(1.0, cv2.contourArea(quad.astype(np.float32)))))


# ---- the scene ----


def random_tabletop(material: CardMaterial, reach: float, rng: np.random.Generator, odds: Odds) -> Tabletop:
    """What cards lie on that reach so far: a texture, a cloth of one colour, print, pattern or check."""
    picture = material.tables[int(rng.integers(len(material.tables)))].astype(np.float32)
    kind = rng.random()
    if kind > 1 - odds.lettered:
        picture = _print(material, rng)
    elif kind > 1 - odds.lettered - odds.printed:
        picture = _patterned(rng)
    elif (kind := kind / (1 - odds.lettered - odds.printed)) < 0.4:
        shade = np.array([[[rng.integers(0, 180), rng.integers(30, 255), rng.integers(40, 245)]]], np.uint8)
        flat = cv2.cvtColor(shade, cv2.COLOR_HSV2BGR)[0, 0].astype(np.float32)
        picture = flat + (picture - picture.mean((0, 1))) * rng.uniform(0, 0.5)
    elif kind < 0.55:
        picture = _cloth(rng)
    else:
        picture = picture * rng.uniform(0.5, 1.2) + rng.normal(0, 8, 3).astype(np.float32)
    picture = np.clip(picture, 0, 255).astype(np.uint8)
    span = reach * rng.uniform(1.5, 4)
    return Tabletop(picture, span, rng.uniform(0, 2 * np.pi))


def _cloth(rng: np.random.Generator) -> np.ndarray:
    """A checked tablecloth."""
    y, x = np.mgrid[0:512, 0:512]
    step = int(rng.integers(16, 90))
    tint = rng.uniform(20, 230, 3)
    weave = ((x // step) % 2).astype(np.float32) + ((y // step) % 2)
    return np.asarray(245 + (tint - 245) * (weave / 2)[..., None], np.float32)


def _print(material: CardMaterial, rng: np.random.Generator) -> np.ndarray:
    """Newspaper, or a cloth with letters on it."""
    page = np.empty((700, 700, 3), np.uint8)
    page[:] = np.clip(rng.uniform(150, 250) + rng.normal(0, 12, 3), 0, 255)
    tone = tuple(float(each) for each in rng.uniform(10, 110, 3))
    if rng.random() < 0.5 and material.spare:
        return _columns(page.astype(np.float32), np.array(tone, np.float32), material, rng)
    for _ in range(int(rng.integers(40, 260))):
        text = "".join(chr(int(c)) for c in rng.integers(33, 122, size=int(rng.integers(1, 14))))
        at = (int(rng.integers(-40, 700)), int(rng.integers(10, 700)))
        cv2.putText(page, text, at, int(rng.integers(0, 5)), rng.uniform(0.3, 1.1), tone, 1, cv2.LINE_AA)
    return page.astype(np.float32)


def _columns(
    page: np.ndarray, tone: np.ndarray, material: CardMaterial, rng: np.random.Generator
) -> np.ndarray:
    """A page of Chinese print: columns of characters, with headings."""
    font = material.spare[int(rng.integers(len(material.spare)))]
    any_of = common_characters()
    text = [any_of[int(k)] for k in rng.integers(len(any_of), size=150)]
    inks = [ink for character in text if (ink := glyph(font, character)) is not None]
    x = rng.uniform(0, 20)
    while inks and x < page.shape[1] - 8:
        size = int(rng.integers(10, 22)) if rng.random() < 0.75 else int(rng.integers(22, 70))
        y = rng.uniform(0, 60)
        column = [inks[int(k)] for k in rng.integers(len(inks), size=12)]
        while y < page.shape[0] - size:
            middle = (round(x) + size // 2, round(y) + size // 2)
            print_ink(page, column[int(rng.integers(len(column)))], middle, (size, size), tone)
            y += size * (1.08 if rng.random() < 0.93 else rng.uniform(1.5, 5))
        x += size * rng.uniform(1.1, 1.6)
    return page


def _patterned(rng: np.random.Generator) -> np.ndarray:
    """Cloth printed with dots, rings, flowers, frames or lattice, in rows or strewn about."""
    page = np.empty((700, 700, 3), np.uint8)
    page[:] = np.clip(rng.uniform(40, 245, 3), 0, 255)
    tones = [tuple(float(each) for each in rng.uniform(5, 250, 3)) for _ in range(int(rng.integers(1, 4)))]
    step = int(rng.integers(26, 130))
    size, kind, strewn = step * rng.uniform(0.15, 0.42), int(rng.integers(5)), rng.random() < 0.3
    for k, (y, x) in enumerate(np.ndindex(700 // step + 2, 700 // step + 2)):
        at = np.array([x * step + (y % 2) * step / 2, y * step])
        if strewn:
            at = rng.uniform(0, 700, 2)
        centre, tone = (round(float(at[0])), round(float(at[1]))), tones[k % len(tones)]
        reach = max(1, round(size))
        if kind == 0:
            cv2.circle(page, centre, reach, tone, -1, cv2.LINE_AA)
        elif kind == 1:
            cv2.circle(page, centre, reach, tone, max(1, reach // 4), cv2.LINE_AA)
        elif kind == 2:
            for turn in np.arange(5) * 2 * np.pi / 5 + k:
                leaf = at + size * 0.6 * np.array([np.cos(turn), np.sin(turn)])
                cv2.circle(page, (round(leaf[0]), round(leaf[1])), max(1, reach // 2), tone, -1, cv2.LINE_AA)
        elif kind == 3:
            half = size * np.array([0.6, 1.0])
            low, high = at - half, at + half
            corners = (round(low[0]), round(low[1])), (round(high[0]), round(high[1]))
            cv2.rectangle(page, *corners, tone, max(1, reach // 6), cv2.LINE_AA)
        else:
            for way in ((1, 1), (1, -1)):
                end = (round(at[0] + way[0] * step / 2), round(at[1] + way[1] * step / 2))
                cv2.line(page, centre, end, tone, max(1, reach // 6), cv2.LINE_AA)
    return page.astype(np.float32)


def _equal_neighbours(cards: Sequence[PlacedCard], rng: np.random.Generator) -> list[PlacedCard]:
    """The cards with many of those held the same as the one before; none more than four times."""
    changed = list(cards)
    held = [k for k, card in enumerate(cards) if card.role == "hand" and card.piece in PIECES]
    held.sort(key=lambda k: (cards[k].row, cards[k].place))
    count = Counter(cards[k].piece for k in held)
    for before, after in pairwise(held):
        piece = changed[before].piece
        if cards[before].row == cards[after].row and count[piece] < 4 and rng.random() < 0.6:
            count[changed[after].piece] -= 1
            count[piece] += 1
            changed[after] = replace(changed[after], piece=piece)
    return changed


def _with_some_that_are_none(cards: Sequence[PlacedCard], rng: np.random.Generator) -> list[PlacedCard]:
    """The cards with one to three of those in rows exchanged for some that are none."""
    changed = list(cards)
    for at in rng.permutation(len(cards))[: int(rng.integers(1, 4))]:
        none = REFUSED[int(rng.choice(3, p=[0.7, 0.2, 0.1]))]
        changed[int(at)] = replace(cards[int(at)], piece=none, role="other", group=None)
    return changed


def arrange_cards(
    material: CardMaterial,
    rng: np.random.Generator,
    width: int = 960,
    height: int = 720,
    layout: str | None = None,
    deck: CardDeck | None = None,
) -> Spread:
    """Cards as somebody might lay them, before a camera. Same `rng` state, same cards; arguments as those of
    `datasets.card_drawing.random_card_scene`."""
    names = list(LAYOUTS)
    weights = np.array([LAYOUTS[name][1] for name in names])
    chosen = layout or names[int(rng.choice(len(names), p=weights / weights.sum()))]
    odds = TRYING if rng.random() < material.trying else Odds()
    deck = deck or random_deck(material.fonts, material.spare, rng, odds.wordy)
    cards = LAYOUTS[chosen][0](deck, rng)
    if rng.random() < odds.alike:
        cards = _equal_neighbours(cards, rng)
    if len(cards) > 4 and rng.random() < odds.amid:
        cards = _with_some_that_are_none(cards, rng)
    if rng.random() < 0.3:
        width, height = height, width
    reach = max([6.0, *(abs(card.x) + deck.length for card in cards)])
    shown = cards
    if cards and rng.random() < odds.none:
        # Cards that are none: title cards, blanks, a card face down.
        spot = max(card.x for card in cards) + rng.uniform(1.5, 3)
        middle = float(np.mean([card.y for card in cards]))
        cards = [
            *cards,
            *(
                PlacedCard(
                    REFUSED[int(rng.choice(3, p=[0.6, 0.2, 0.2]))],
                    spot + 1.3 * k,
                    middle + rng.normal(0, 1),
                    rng.normal(0, 0.5),
                    0,
                    role="other",
                )
                for k in range(int(rng.integers(1, 4)))
            ),
        ]
        if rng.random() < 0.6:  # else they lie where nobody cared to have them in the picture
            shown = cards
    camera = _camera(shown, deck, rng, width, height, material.framed)
    if rng.random() < 0.3:
        bow = rng.normal(0, 0.35)
        cards = [replace(card, curl=bow * rng.uniform(0.6, 1.3)) for card in cards]
    return Spread(chosen, deck, tuple(cards), camera, reach, odds)
