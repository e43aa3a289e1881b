"""Tile sets that nobody made: characters of a random font, drawn circles and bamboo, lettered flowers.

Real sets differ in the hand of their characters, in the rings of their circles, the knots of their bamboo
and the pictures of their flowers, while the layout of each face stays. `Lettering.set_of` draws a new such
set every time, so that a reader learns the layout and the characters instead of some thirty artworks.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from datasets.art import FaceSet, frame_dragon, with_missing_faces

HEIGHT, WIDTH = 160, 120
"""Pixels of a face."""

NUMBERS = "一二三四五六七八九"
WINDS = "東南西北"
FLOWERS = "梅蘭菊竹春夏秋冬"
OTHER_WORDS = "財花公侯伯子男將士象相車馬炮兵卒"
"""Words in place of the flowers' names: characters which the data's fonts have, for most lack all others."""
ENGLISH = ("PLUM", "ORCHID", "MUM", "BAMBOO", "SPRING", "SUMMER", "AUTUMN", "WINTER")
"""What sets made for the West write on flowers and seasons, whole or cut to three letters."""
LATIN = (
    cv2.FONT_HERSHEY_SIMPLEX,
    cv2.FONT_HERSHEY_DUPLEX,
    cv2.FONT_HERSHEY_COMPLEX,
    cv2.FONT_HERSHEY_TRIPLEX,
)
"""What these words are written in."""
SIMPLE = {"萬": "万", "東": "东", "發": "发"}
"""Simplified forms, for fonts and sets that have them."""

Box = tuple[float, float, float, float]
"""Left, top, width, height; shares of the face."""

CIRCLES: dict[int, tuple[tuple[float, float], ...]] = {
    2: ((0.5, 0.25), (0.5, 0.75)),
    3: ((0.2, 0.18), (0.5, 0.5), (0.8, 0.82)),
    4: ((0.26, 0.25), (0.74, 0.25), (0.26, 0.75), (0.74, 0.75)),
    5: ((0.22, 0.2), (0.78, 0.2), (0.5, 0.5), (0.22, 0.8), (0.78, 0.8)),
    6: ((0.27, 0.18), (0.73, 0.18), (0.27, 0.57), (0.73, 0.57), (0.27, 0.85), (0.73, 0.85)),
    7: ((0.2, 0.13), (0.5, 0.24), (0.8, 0.35), (0.29, 0.62), (0.71, 0.62), (0.29, 0.87), (0.71, 0.87)),
    8: tuple((x, y) for y in (0.14, 0.38, 0.62, 0.86) for x in (0.3, 0.7)),
    9: tuple((x, y) for y in (0.18, 0.5, 0.82) for x in (0.2, 0.5, 0.8)),
}
"""Middles of the circles; shares of the face within its margin."""


def _columns(*rows: tuple[int, float]) -> tuple[tuple[float, float, float], ...]:
    """Upright sticks in rows of so many at such heights."""
    return tuple(((k + 0.5) / count if count > 1 else 0.5, y, 0.0) for count, y in rows for k in range(count))


STICKS: dict[int, tuple[tuple[float, float, float], ...]] = {
    2: ((0.5, 0.25, 0.0), (0.5, 0.75, 0.0)),
    3: _columns((1, 0.25), (2, 0.75)),
    4: _columns((2, 0.25), (2, 0.75)),
    5: ((0.2, 0.25, 0.0), (0.8, 0.25, 0.0), (0.5, 0.5, 0.0), (0.2, 0.75, 0.0), (0.8, 0.75, 0.0)),
    6: _columns((3, 0.25), (3, 0.75)),
    7: _columns((1, 0.17), (3, 0.5), (3, 0.83)),
    8: tuple(
        (x, y, lean if y < 0.5 else -lean)
        for y in (0.25, 0.75)
        for x, lean in ((0.12, 0.0), (0.37, 1.0), (0.63, -1.0), (0.88, 0.0))
    ),
    9: _columns((3, 0.17), (3, 0.5), (3, 0.83)),
}
"""Middles of the sticks and their lean (1: leaning as the right half of a roof does)."""

Colour = tuple[float, float, float]


def _near(colour: Colour, rng: np.random.Generator, spread: float = 18) -> Colour:
    b, g, r = np.clip(np.array(colour) + rng.normal(0, spread, 3), 0, 235)
    return float(b), float(g), float(r)


RED: Colour = (40, 35, 185)
GREEN: Colour = (60, 115, 30)
BLUE: Colour = (140, 60, 25)
BLACK: Colour = (35, 30, 30)


@functools.lru_cache(maxsize=8192)
def _glyph(font: str, text: str) -> np.ndarray | None:
    """The ink of a character or digit, cut tight: (h, w) uint8, about 128 high; None where the font lacks
    it.
    """
    face = ImageFont.truetype(font, 128)
    left, top, right, bottom = face.getbbox(text)
    if right - left < 4 or bottom - top < 4:
        return None
    canvas = Image.new("L", (int(right - left) + 2, int(bottom - top) + 2))
    ImageDraw.Draw(canvas).text((1 - left, 1 - top), text, 255, face)
    ink = np.asarray(canvas, np.uint8)
    if ink.max() < 100:
        return None
    nothing = face.getmask("\uffff")
    if nothing.size == face.getmask(text).size and bytes(nothing) == bytes(face.getmask(text)):
        return None
    rows, cols = np.nonzero(ink > 40)
    return ink[rows.min() : rows.max() + 1, cols.min() : cols.max() + 1]


def _latin(word: str, font: int, strokes: int) -> np.ndarray:
    """The ink of a word in one of OpenCV's fonts, cut tight: (h, w) uint8; the data's fonts lack letters."""
    (width, height), below = cv2.getTextSize(word, font, 3.0, strokes)
    canvas = np.zeros((height + below + 24, width + 24), np.uint8)
    cv2.putText(canvas, word, (12, height + 12), font, 3.0, 255, strokes, cv2.LINE_AA)
    rows, cols = np.nonzero(canvas > 40)
    return canvas[rows.min() : rows.max() + 1, cols.min() : cols.max() + 1]


class _Ink:
    """A transparent face that is painted on: `picture` is (HEIGHT, WIDTH, 4) float32 BGRA."""

    def __init__(self) -> None:
        self.picture = np.zeros((HEIGHT, WIDTH, 4), np.float32)

    def stamp(self, mask: np.ndarray, box: Box, colour: Colour) -> None:
        """Print a mask (h, w) uint8 into a box."""
        x, y = round(box[0] * WIDTH), round(box[1] * HEIGHT)
        w, h = max(3, round(box[2] * WIDTH)), max(3, round(box[3] * HEIGHT))
        layer = np.zeros((HEIGHT, WIDTH), np.float32)
        small = cv2.resize(mask, (w, h), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
        x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + w, WIDTH), min(y + h, HEIGHT)
        if x1 > x0 and y1 > y0:
            layer[y0:y1, x0:x1] = small[y0 - y : y1 - y, x0 - x : x1 - x]
            self.lay(layer, colour)

    def lay(self, alpha: np.ndarray, colour: Colour) -> None:
        """Paint with a colour where alpha (0-1) says."""
        a = alpha[..., None]
        self.picture[..., :3] = self.picture[..., :3] * (1 - a) + np.array(colour, np.float32) * a
        self.picture[..., 3] = np.maximum(self.picture[..., 3], alpha * 255)

    def shape(self, points: np.ndarray, colour: Colour) -> None:
        """Fill a polygon (n, 2), pixels."""
        # Only the polygon's surroundings: a set is some thousand of them.
        x0, y0 = np.maximum(np.floor(points.min(0)).astype(int) - 1, 0)
        x1, y1 = np.minimum(np.ceil(points.max(0)).astype(int) + 2, (WIDTH, HEIGHT))
        if x1 <= x0 or y1 <= y0:
            return
        layer = np.zeros((y1 - y0, x1 - x0), np.uint8)
        corners = np.round((points - (x0, y0)) * 8).astype(np.int32)
        cv2.fillPoly(layer, [corners], 255, cv2.LINE_AA, 3)
        alpha = layer.astype(np.float32) / 255
        part = self.picture[y0:y1, x0:x1]
        part[..., :3] += (np.array(colour, np.float32) - part[..., :3]) * alpha[..., None]
        np.maximum(part[..., 3], layer, out=part[..., 3])

    def done(self) -> np.ndarray:
        return np.clip(self.picture, 0, 255).astype(np.uint8)


@dataclass(frozen=True)
class _Style:
    """What all faces of one set share: fonts (files), colours by part, sizes as shares of the face.

    spare: for characters that `font` lacks. weight: pixels by which strokes are thickened. english: how
    flowers are named in English: "short", "whole" or not at all; latin: in which of OpenCV's fonts.
    """

    font: str
    spare: str
    digits: str
    simple: bool
    weight: int
    numbers: Colour
    ten_thousand: Colour
    winds: Colour
    flowers: Colour
    seasons: Colour
    figures: Colour | None
    seasons_right: bool
    chinese_seasons: bool
    wordless: bool
    english: str
    latin: int
    outlined: bool
    other_words: bool
    split: float
    wide: float
    petals: int
    rings: int
    solid: bool
    pip: float
    stick: float
    knots: int
    hollow: bool
    mirrored: bool
    colours: tuple[Colour, Colour, Colour]


def _ring(ink: _Ink, x: float, y: float, radius: float, colour: Colour, other: Colour, style: _Style) -> None:
    """One circle of the suit of circles; x, y, radius in pixels."""
    turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    outline = np.stack([np.cos(turn), np.sin(turn)], 1)
    paper: Colour = (238.0, 242.0, 242.0)
    ink.shape(outline * radius + (x, y), colour)
    if style.solid:
        if style.rings > 1:
            ink.shape(outline * radius * 0.4 + (x, y), paper)
        return
    for ring in range(style.rings):
        outer = radius * (1 - (ring + 0.35) / (style.rings + 0.6))
        ink.shape(outline * outer + (x, y), paper)
        ink.shape(outline * outer * 0.72 + (x, y), other if ring % 2 else colour)
    if style.petals:
        for k in range(style.petals):
            angle = 2 * np.pi * k / style.petals
            middle = np.array([np.cos(angle), np.sin(angle)]) * radius * 0.45 + (x, y)
            ink.shape(outline * radius * 0.14 + middle, paper)
    ink.shape(outline * radius * 0.16 + (x, y), other if style.petals else paper)


def _circles(count: int, style: _Style, rng: np.random.Generator, red: bool = False) -> np.ndarray:
    ink = _Ink()
    first, second, third = style.colours
    if red:
        first = second = third = RED
    if count == 1:
        reach = rng.uniform(0.36, 0.46) * WIDTH
        turn = np.linspace(0, 2 * np.pi, 120, endpoint=False)
        petals = int(rng.integers(6, 17))
        wave = 1 + rng.uniform(0, 0.12) * np.cos(turn * petals)
        outline = np.stack([np.cos(turn), np.sin(turn)], 1)
        middle = np.array([WIDTH / 2, HEIGHT / 2])
        ink.shape(outline * wave[:, None] * reach + middle, first)
        ink.shape(outline * reach * rng.uniform(0.78, 0.88) + middle, (238, 242, 242))
        ink.shape(outline * reach * rng.uniform(0.6, 0.74) + middle, second)
        if rng.random() < 0.7:
            for k in range(petals):
                angle = 2 * np.pi * k / petals
                at = np.array([np.cos(angle), np.sin(angle)]) * reach * 0.5 + middle
                ink.shape(outline * reach * 0.1 + at, (238, 242, 242))
        ink.shape(outline * reach * rng.uniform(0.2, 0.36) + middle, third)
        return ink.done()
    for number, (x, y) in enumerate(CIRCLES[count]):
        most = {2: 0.22, 3: 0.16, 4: 0.17, 5: 0.15, 6: 0.135, 7: 0.115, 8: 0.105, 9: 0.125}[count]
        colour, other = first, second
        if count == 3:
            colour = style.colours[number]
        elif count == 4 and number in (1, 2):
            colour = second
        elif count in (5, 9) and (number == 2 if count == 5 else number in (3, 4, 5)):
            colour, other = third, first
        elif (count == 6 and number > 1) or (count == 7 and number > 2):
            colour, other = third, third
        elif count in (6, 7) or (count == 2 and number):
            colour, other = second, second
        elif count == 8:
            colour = other = first
        if style.mirrored and count in (3, 7):
            x = 1 - x
        px, py = (0.06 + 0.88 * x) * WIDTH, (0.04 + 0.92 * y) * HEIGHT
        _ring(ink, px, py, most * style.pip * HEIGHT, colour, other, style)
    return ink.done()


def _stick(ink: _Ink, x: float, y: float, long: float, lean: float, colour: Colour, style: _Style) -> None:
    """One bamboo stick; x, y, long in pixels."""
    half, thick = long / 2, style.stick * WIDTH / 2
    along = np.array([np.sin(lean), -np.cos(lean)])
    across = np.array([along[1], -along[0]])
    middle = np.array([x, y])
    steps = np.linspace(-1, 1, 25)
    # Swellings at the knots.
    bulge = 0.72 + 0.28 * np.abs(np.cos(steps * np.pi * style.knots / 2)) ** 0.6
    left = middle + steps[:, None] * half * along - (bulge * thick)[:, None] * across
    right = middle + steps[:, None] * half * along + (bulge * thick)[:, None] * across
    ink.shape(np.vstack([left, right[::-1]]), colour)
    paper: Colour = (238.0, 242.0, 242.0)
    if style.hollow:
        inner = 0.45 * thick * bulge
        left = middle + steps[:, None] * half * 0.88 * along - inner[:, None] * across
        right = middle + steps[:, None] * half * 0.88 * along + inner[:, None] * across
        ink.shape(np.vstack([left, right[::-1]]), paper)
    if style.knots > 1:
        for k in range(1, style.knots):
            at = middle + (2 * k / style.knots - 1) * half * along
            line = np.array([-1, 1, 1, -1])[:, None] * across * thick * 0.8
            line = line + np.array([-1, -1, 1, 1])[:, None] * along * max(1.0, thick * 0.16)
            ink.shape(at + line, paper)


def _bamboo(count: int, style: _Style, red: bool = False) -> np.ndarray:
    ink = _Ink()
    places = STICKS[count]
    rows = 3 if count in (7, 9) else 2
    for number, (x, y, lean) in enumerate(places):
        colour = style.colours[1] if (number % 2 and count in (4, 6, 8)) else style.colours[0]
        if red or (count == 5 and number == 2) or (count == 7 and not number):
            colour = style.colours[2]
        elif count == 9:
            colour = (style.colours[1], style.colours[2], style.colours[0])[number % 3]
        elif count in (2, 3) and not number:
            colour = style.colours[1]
        if red:
            colour = RED
        px, py = (0.06 + 0.88 * x) * WIDTH, (0.03 + 0.94 * y) * HEIGHT
        _stick(ink, px, py, HEIGHT * (0.42 if rows == 2 else 0.27), lean * 0.42, colour, style)
    return ink.done()


@dataclass(frozen=True)
class Lettering:
    """What lettered sets are made of.

    fonts: files. pictures: face -> pictures of other sets, (h, w, 4) uint8 BGRA, for birds and flowers.
    """

    fonts: tuple[str, ...]
    pictures: dict[str, tuple[np.ndarray, ...]]

    @classmethod
    def of(cls, fonts: Sequence[str], sets: Sequence[FaceSet]) -> Lettering:
        """From font files and the transparent art of some sets."""
        pictures: dict[str, list[np.ndarray]] = {}
        for art in sets:
            if art.inset or art.name == "shop-photos":
                for face in ("1s", *(f"{k}f" for k in range(1, 9))):
                    some = (picture for picture in art.faces.get(face, ()) if _dark_enough(picture))
                    pictures.setdefault(face, []).extend(some)
        return cls(tuple(fonts), {face: tuple(many) for face, many in pictures.items()})

    def set_of(self, rng: np.random.Generator) -> FaceSet:
        """A new set."""
        style = self._style(rng)
        faces: dict[str, list[np.ndarray]] = {}
        for rank in range(1, 10):
            faces[f"{rank}m"] = [self._number(rank, style, rng)]
            faces[f"{rank}p"] = [_circles(rank, style, rng)]
            faces[f"{rank}s"] = [_bamboo(rank, style) if rank > 1 else self._bird(rng)]
        size = rng.uniform(0.62, 0.9)
        for face, text in zip(("1z", "2z", "3z", "4z", "6z", "7z"), WINDS + "發中", strict=True):
            colour = {"發": _near(GREEN, rng), "中": _near(RED, rng)}.get(text, style.winds)
            faces[face] = [self._character(text, size, colour, style, rng)]
        for rank, text in enumerate(FLOWERS, 1):
            faces[f"{rank}f"] = [self._flower(rank, text, style, rng)]
        faces["0p"], faces["0s"] = [_circles(5, style, rng, red=True)], [_bamboo(5, style, red=True)]
        finished = with_missing_faces(faces)
        white = rng.random()
        finished["5z"] = [frame_dragon(rng) if white < 0.5 else np.zeros((HEIGHT, WIDTH, 4), np.uint8)]
        if white > 0.9:
            finished["5z"] = [self._character("白", size, style.winds, style, rng)]
        bend = rng.uniform(0, 2.2) if rng.random() < 0.6 else 0.0
        worn = rng.uniform(0.1, 0.6) if rng.random() < 0.3 else 0.0
        hand_made = {
            face: [_by_hand(picture, bend, worn, rng) for picture in many] for face, many in finished.items()
        }
        return FaceSet("lettered", hand_made, 1.0, True)

    def _style(self, rng: np.random.Generator) -> _Style:
        while True:
            font = self.fonts[int(rng.integers(len(self.fonts)))]
            # A font without the full forms belongs to a set in simplified ones.
            full = all(_glyph(font, text) is not None for text in SIMPLE)
            simple = not full or rng.random() < 0.12
            if _glyph(font, SIMPLE["萬"] if simple else "萬") is not None:
                break
        others = [self.fonts[int(k)] for k in rng.permutation(len(self.fonts))]
        spare = next(other for other in others if all(_glyph(other, text) is not None for text in "萬蘭"))
        dark = [BLACK, BLUE, GREEN][int(rng.choice(3, p=[0.45, 0.4, 0.15]))]
        plain = rng.random() < 0.1
        colours = [_near(c, rng) for c in (BLUE, GREEN, RED)]
        if rng.random() < 0.5:
            colours = [colours[1], colours[0], colours[2]]
        if plain:
            colours = [_near(dark, rng, 8)] * 3
        elif rng.random() < 0.2:
            colours = [colours[0], colours[0], colours[2]]
        red = _near(RED, rng)
        return _Style(
            font=font,
            spare=spare,
            digits=self.fonts[int(rng.integers(len(self.fonts)))],
            simple=simple,
            weight=int(rng.choice([-2, -1, 0, 0, 0, 1, 2, 3])),
            numbers=_near(dark, rng),
            ten_thousand=_near(dark, rng) if plain else red,
            winds=_near(dark if rng.random() < 0.8 else GREEN, rng),
            flowers=_near([RED, GREEN, BLUE, BLACK][int(rng.choice(4, p=[0.2, 0.2, 0.3, 0.3]))], rng),
            seasons=_near([RED, GREEN, BLUE, BLACK][int(rng.choice(4, p=[0.6, 0.1, 0.15, 0.15]))], rng),
            figures=_near([RED, BLUE, BLACK][int(rng.integers(3))], rng) if rng.random() < 0.5 else None,
            seasons_right=rng.random() < 0.2,
            chinese_seasons=rng.random() < 0.3,
            wordless=rng.random() < 0.5,
            english=str(rng.choice(["", "short", "whole"], p=[0.7, 0.17, 0.13])),
            latin=int(rng.choice(LATIN)),
            outlined=rng.random() < 0.3,
            other_words=rng.random() < 0.12,
            split=rng.uniform(0.42, 0.54),
            wide=rng.uniform(0.55, 0.9),
            petals=int(rng.choice([0, 0, 4, 5, 6, 8])),
            rings=int(rng.integers(1, 4)),
            solid=rng.random() < 0.12,
            pip=rng.uniform(0.72, 1.0),
            stick=rng.uniform(0.09, 0.17),
            knots=int(rng.integers(1, 4)),
            hollow=rng.random() < 0.3,
            mirrored=rng.random() < 0.12,
            colours=(colours[0], colours[1], colours[2]),
        )

    def _mask(self, text: str, style: _Style) -> np.ndarray:
        """The ink of a character in the set's hand, thinned or thickened."""
        if style.simple:
            text = SIMPLE.get(text, text)
        mask = _glyph(style.font, text)
        if mask is None:
            mask = _glyph(style.spare, text)
        if mask is None:
            mask = next(found for f in self.fonts if (found := _glyph(f, text)) is not None)
        if style.weight > 0:
            mask = np.pad(mask, style.weight)
            mask = cv2.dilate(mask, np.ones((style.weight + 1,) * 2, np.uint8))
        elif style.weight < 0:
            thin = cv2.erode(mask, np.ones((1 - style.weight,) * 2, np.uint8))
            mask = thin if thin.max() > 100 and thin.mean() > 0.45 * mask.mean() else mask
        return mask

    def _number(self, rank: int, style: _Style, rng: np.random.Generator) -> np.ndarray:
        ink = _Ink()
        text = "伍" if rank == 5 and style.weight in (1, 2) else NUMBERS[rank - 1]
        mask = self._mask(text, style)
        # A stroke keeps its proportions: one is no block.
        tall = min(style.split - 0.04, style.wide * WIDTH / HEIGHT * mask.shape[0] / mask.shape[1])
        wide = min(style.wide, tall * HEIGHT / WIDTH * mask.shape[1] / mask.shape[0] * 1.25)
        ink.stamp(mask, (0.5 - wide / 2, (style.split - tall) / 2, wide, tall), style.numbers)
        wide = style.wide * 0.98
        ink.stamp(
            self._mask("萬", style),
            (0.5 - wide / 2, style.split + 0.01, wide, 0.97 - style.split),
            style.ten_thousand,
        )
        return ink.done()

    def _character(
        self, text: str, size: float, colour: Colour, style: _Style, rng: np.random.Generator
    ) -> np.ndarray:
        ink = _Ink()
        mask = self._mask(text, style)
        wide, tall = size, size * WIDTH / HEIGHT * np.clip(mask.shape[0] / mask.shape[1], 0.9, 1.5)
        tall = min(float(tall), 0.95)
        ink.stamp(mask, (0.5 - wide / 2, 0.5 - tall / 2, wide, tall), colour)
        return ink.done()

    def _bird(self, rng: np.random.Generator) -> np.ndarray:
        many = self.pictures["1s"]
        return _retinted(many[int(rng.integers(len(many)))], rng)

    def _picture(self, rank: int, bare: bool, style: _Style, rng: np.random.Generator) -> np.ndarray:
        """Another set's picture of this flower, (HEIGHT, WIDTH, 4) float32; bare: without what stands in its
        upper part, where words and numbers are.
        """
        many = self.pictures[f"{rank}f"]
        picture = _retinted(many[int(rng.integers(len(many)))], rng).astype(np.float32)
        picture = np.asarray(cv2.resize(picture, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA), np.float32)
        if bare:
            picture[: round(0.38 * HEIGHT), :, 3] = 0
        if style.outlined:
            picture[..., 3] = _outlines(picture[..., 3])
        return picture

    def _english_flower(self, rank: int, style: _Style, rng: np.random.Generator) -> np.ndarray:
        """A picture of any flower over or under an English word, which alone tells which it is."""
        ink = _Ink()
        word = ENGLISH[rank - 1]
        if style.english == "short" and (len(word) > 4 or rng.random() < 0.5):
            word = word[:3]
        strokes = 5 + 3 * max(style.weight, 0)
        mask = _latin(word, style.latin, strokes)
        kin = (5, 6, 7, 8) if rank > 4 else (1, 2, 3, 4)
        shown = rank if rng.random() < 0.5 else int(rng.choice(kin))
        picture = self._picture(shown, True, style, rng)
        low = rng.random() < 0.7
        wide = rng.uniform(0.6, 0.9) * min(1.0, 0.4 + 0.12 * len(word))
        tall = min(wide * WIDTH / HEIGHT * mask.shape[0] / mask.shape[1], 0.3)
        colour = style.seasons if rank > 4 else style.flowers
        ink.stamp(mask, (0.5 - wide / 2, 0.96 - tall if low else 0.04, wide, tall), colour)
        # What is left of the picture fills what is left of the face.
        left, top = picture[round(0.38 * HEIGHT) :], 0.03 if low else tall + 0.08
        size = WIDTH, round((0.9 - tall) * HEIGHT)
        part = cv2.resize(left, size, interpolation=cv2.INTER_AREA)
        y = round(top * HEIGHT)
        room = ink.picture[y : y + size[1]]
        np.copyto(room, part[: len(room)], where=part[: len(room), :, 3:] > room[..., 3:])
        digit = _glyph(style.digits, str((rank - 1) % 4 + 1))
        if digit is not None and rng.random() < 0.3:
            wide = 0.05 if digit.shape[1] <= 25 else rng.uniform(0.1, 0.16)
            ink.stamp(digit, (0.84, 0.04 if low else 0.8, wide, 0.14), style.figures or style.flowers)
        return ink.done()

    def _flower(self, rank: int, text: str, style: _Style, rng: np.random.Generator) -> np.ndarray:
        """A picture of a flower, mostly, a character in a corner and its number in another.

        The number and which corner it stands in are what real sets agree on: pictures of seasons differ from
        set to set. Some bear other words, some none, and then seasons a Chinese number.
        """
        if style.english:
            return self._english_flower(rank, style, rng)
        ink = _Ink()
        season = rank > 4
        number = (rank - 1) % 4
        chinese = style.chinese_seasons and season
        wordless = style.chinese_seasons and (season or style.wordless)
        numbered = wordless or rng.random() < 0.85
        other_words = numbered and style.other_words
        colour = style.seasons if season else style.flowers
        size = rng.uniform(0.26, 0.5)
        if rng.random() < 0.85:
            kin = (5, 6, 7, 8) if season else (1, 2, 3, 4)
            shown = int(rng.choice(kin)) if numbered and rng.random() < 0.3 else rank
            # Its own words and number would contradict the new ones.
            picture = self._picture(shown, shown != rank or rng.random() < 0.5, style, rng)
            scale = rng.uniform(0.6, 0.95)
            warp = np.array(
                [
                    [scale, 0, WIDTH * (1 - scale) * rng.uniform(0.2, 0.8)],
                    [0, scale, HEIGHT * (1 - scale) * rng.uniform(0.4, 1)],
                ]
            )
            ink.picture = np.asarray(cv2.warpAffine(picture, warp, (WIDTH, HEIGHT)))
        else:
            size = rng.uniform(0.5, 0.8)

        def place(what: np.ndarray, right: bool, low: bool, wide: float, paint: Colour) -> None:
            tall = min(wide * WIDTH / HEIGHT * what.shape[0] / what.shape[1], 0.9)
            x = 0.98 - wide if right else 0.02
            y = 0.98 - tall if low else 0.02
            # Cleared ground around the letters, as engravers leave it.
            pad = np.zeros((HEIGHT, WIDTH), np.float32)
            x0, y0 = max(round((x - 0.03) * WIDTH), 0), max(round((y - 0.02) * HEIGHT), 0)
            pad[y0 : round((y + tall + 0.02) * HEIGHT), x0 : round((x + wide + 0.03) * WIDTH)] = 1
            ink.picture[..., 3] *= 1 - pad * 0.92
            ink.stamp(what, (x, y, wide, tall), paint)

        # Numbers stand on the right of flowers and on the left of seasons, or the other way round.
        number_right = season == style.seasons_right
        if not wordless:
            word = "".join(str(c) for c in rng.choice(list(OTHER_WORDS), 1)) if other_words else text
            place(
                self._mask(word, style), not number_right, not numbered and rng.random() < 0.2, size, colour
            )
        if chinese:
            mask = self._mask(NUMBERS[number], style)
            wide = rng.uniform(0.26, 0.42)
            place(mask, rng.random() < 0.7, False, wide, colour)
        elif numbered:
            digit = _glyph(style.digits, str(number + 1))
            if digit is not None:
                wide = rng.uniform(0.1, 0.24) if digit.shape[1] > 25 else rng.uniform(0.05, 0.09)
                number_right ^= wordless and rng.random() < 0.5  # where no word stands in its way
                place(digit, number_right, rng.random() < 0.06, wide, style.figures or colour)
        return ink.done()


def _outlines(alpha: np.ndarray) -> np.ndarray:
    """What is left of ink (h, w) 0-255 where only its outlines are cut into the tile, in thin strokes."""
    solid = cv2.GaussianBlur(cv2.erode(alpha, np.ones((3, 3), np.uint8)), (0, 0), 1.0)
    return np.asarray(np.clip(alpha - 0.8 * solid, 0, 255))


def _dark_enough(picture: np.ndarray) -> bool:
    """Whether ink (h, w, 4) shows on a white tile; some art is drawn for black ones."""
    alpha = picture[..., 3].astype(float)
    darkness = 255 - picture[..., :3].min(2)
    return bool(alpha.sum() > 0 and (alpha * darkness).sum() / alpha.sum() > 60)


def _retinted(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A picture (h, w, 4) in somewhat other colours, at times mirrored."""
    hsv = cv2.cvtColor(np.ascontiguousarray(picture[..., :3]), cv2.COLOR_BGR2HSV)
    hsv[..., 0] = (hsv[..., 0].astype(int) + int(rng.normal(0, 14))) % 180
    hsv[..., 1] = np.clip(hsv[..., 1] * rng.uniform(0.5, 1.4), 0, 255)
    return np.dstack([cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR), picture[..., 3]])


def _by_hand(picture: np.ndarray, bend: float, worn: float, rng: np.random.Generator) -> np.ndarray:
    """Lines a little bent (pixels) and paint worn off (share), as engraved faces have them."""
    height, width = picture.shape[:2]
    if bend:
        coarse = rng.normal(0, bend, (4, 5, 2)).astype(np.float32)
        shift = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
        grid_y, grid_x = np.mgrid[0:height, 0:width].astype(np.float32)
        picture = cv2.remap(picture, grid_x + shift[..., 0], grid_y + shift[..., 1], cv2.INTER_LINEAR)
    if worn:
        patches = cv2.resize(rng.random((12, 9), np.float32), (width, height), interpolation=cv2.INTER_CUBIC)
        picture = picture.copy()
        kept = np.clip(1 - worn * np.clip(patches * 2 - 0.6, 0, 1), 0, 1)
        picture[..., 3] = (picture[..., 3] * kept).astype(np.uint8)
    return np.asarray(picture)
