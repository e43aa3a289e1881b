"""Four-color cards to render: decks in every glyph family, paper, frame and pen, no two alike.

A `CardDeck` fixes what all cards of one pack share; `CardDeck.picture` prints a card. Lengths are in widths
of a card: x runs across it from 0 to 1, y along it from 0 to `length`. Both ends bear the glyph, the lower
one turned by half.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from PIL import ImageFont

WIDTH = 72
"""Pixels across a printed card."""

RANKS, COLOURS = "KAERHCP", "yrwg"
PIECES = tuple(rank + colour for colour in COLOURS for rank in RANKS)
JOKERS = tuple(f"{number}j" for number in range(1, 6))

VARIANTS: Mapping[str, str] = {
    "K": "將将帥",
    "A": "士仕",
    "E": "象相像",
    "R": "車俥伡",
    "H": "馬傌㐷",
    "C": "砲炮包",
    "P": "卒兵卆~",
}
"""Every glyph a rank is printed with; `~` is the cursive soldier, which no font has."""

FAMILIES: tuple[tuple[str, str], ...] = (
    ("帥仕相俥傌炮卒", "將士象車馬包兵"),
    ("帥仕相俥傌炮兵", "將士象車馬包卒"),
    ("將士相車馬炮卒", "將士相車馬炮卒"),
    ("帥仕相俥傌砲兵", "將士象車馬炮卒"),
)
"""Glyphs in rank order on red and yellow, and on white and green."""

JOKER_GLYPHS = "公侯伯子男"
WORDS = "福祿壽榮華富貴"
"""Small words in the middle of a card, in rank order."""

PRINTED: Mapping[str, tuple[str, ...]] = {
    kind: tuple(words.split())
    for kind, words in {
        "games": "四色牌 四色 紙牌 老牌 十胡 同色牌 文武牌 象棋牌 娛樂",
        "makers": "金象 雙喜 雙龍 金鳳 仙鶴 麒麟 獅王 飛鷹 長城 和記 興隆 大利 順發",
        "brands": "老虎 金馬 白馬 寶象 金車 蝴蝶 三星 福祿壽 榮華 富貴 招財 中發",
        "places": "香港 上海 廣州 福州 廈門 泉州 台灣 汕頭 星洲 福建 廣東 中國",
        "praise": "精製 特製 上等 正品 老字號 公司 印務公司 監製 註冊商標 出品 造 廠",
        "luck": "囍 吉 大吉 發財 招財進寶 榮華富貴 一本萬利 福祿壽喜 恭喜 旺 平安 春",
        "plain": "東南西北 春夏秋冬 梅蘭竹菊 發財 中 發 東 八千 百子 花 三六九 二四八",
    }.items()
}
"""What makers print on title cards, and small in the middle of others. The plain ones are in every font."""
UNHEARD = 0.5
"""How often such words are made of any common characters: nobody knows what all the makers print."""
LATIN = ("LUCKY", "DOUBLE", "HAPPINESS", "FOUR", "COLOUR", "No.1", "BEST", "888", "CARDS", "GOLD", "HK")

TWINS = "土王"
"""Characters that stand beside a rank's like twins: nobody could refuse them."""

COMPOSED = {"俥": "車", "傌": "馬", "像": "象", "伡": "车", "㐷": "马"}
"""Glyphs made of a standing person and another one, for fonts that lack them."""

VALIDATION_FONTS = ("AR-PL-", "TW-Kai", "Noto-Serif", "NotoSerif")
"""How the names begin of fonts that show in the validation scenes, and of their nearest kin: never used."""

HELD_OUT_FONTS = ("cwTeXKai", "Baekmuk-Batang", "Ume-Mincho", "npm-yuji-syuku", "LXGW-WenKai-Light", "kiloji")
"""Fonts kept out of training, so that rendered scenes can measure decks never seen."""

Colour = tuple[float, float, float]

PAPERS: Mapping[str, tuple[tuple[int, int, int], ...]] = {
    # RGB as seen on decks and in shops, with orange for yellow and blue-green for green.
    "y": ((213, 207, 53), (255, 211, 0), (245, 212, 23), (255, 236, 80), (250, 172, 32), (240, 160, 50)),
    "r": ((255, 85, 17), (214, 52, 38), (228, 60, 44), (196, 40, 52), (240, 100, 70)),
    "w": ((228, 216, 216), (246, 244, 238), (252, 252, 252), (238, 228, 206)),
    "g": ((0, 170, 96), (41, 156, 66), (46, 168, 79), (30, 120, 70), (10, 150, 125), (110, 190, 110)),
}
JOKER_PAPERS = ((250, 168, 196), (250, 220, 70), (150, 190, 240), (140, 210, 150), (248, 246, 240))


def usable_fonts(folder: Path, part: str = "train") -> tuple[str, ...]:
    """Font files of the data folder: `train` leaves the held-out ones away, `held-out` keeps only them, `all`
    keeps both. Those of the validation scenes are never among them.
    """
    if part not in ("train", "held-out", "all"):
        raise ValueError(f"part of the fonts must be train, held-out or all, not {part!r}")
    fonts = [path for path in sorted((folder / "fonts").glob("*.?tf")) if not _is_validation(path)]
    kept = [path for path in fonts if part == "all" or (path.stem in HELD_OUT_FONTS) == (part == "held-out")]
    return tuple(map(str, kept))


def full_fonts(folder: Path, part: str = "train", unpacked: Path | None = None) -> tuple[str, ...]:
    """The uncut fonts that the data folder's manifest names and this computer has: for rare glyphs and words.

    part: as in `usable_fonts`, but `held-out` keeps all. unpacked: a folder into which packages of fonts were
    unpacked (as by ``dpkg -x``), looked into before the computer's own.
    """
    entries = json.loads((folder / "fonts" / "manifest.json").read_text("utf-8"))
    kept = [
        entry
        for entry in entries
        if not _is_validation(Path(entry["file"]))
        and (part != "train" or Path(entry["file"]).stem not in HELD_OUT_FONTS)
    ]
    paths = {Path(entry["path"]) for entry in kept if entry["path"].startswith("/")}
    found = []
    for path in sorted(paths):
        private = (unpacked or Path("/")) / path.relative_to("/")
        at = private if private.is_file() else path
        if at.is_file() and not _is_validation(at):
            found.append(str(at))
    return tuple(found)


def _is_validation(path: Path) -> bool:
    return path.name.startswith(VALIDATION_FONTS) or path.stem in ("ukai", "uming")


# ---- glyphs ----


@functools.lru_cache(maxsize=8192)
def glyph(font: str, character: str) -> np.ndarray | None:
    """The ink of a character, cut tight: (h, w) uint8, about 96 high; None where the font lacks it."""
    if character == "~":
        return None
    if (ink := _printed(font, character)) is not None:
        return ink
    if character == "卆":
        nine, ten = _printed(font, "九"), _printed(font, "十")
        return None if nine is None or ten is None else _stacked(nine, ten)
    other = COMPOSED.get(character)
    if other is None:
        return None
    body, whole = _printed(font, other), _printed(font, "仕")
    if body is None or whole is None:
        return None
    person = whole[:, : round(whole.shape[1] * 0.36)]
    height = 96
    left = cv2.resize(person, (26, height), interpolation=cv2.INTER_AREA)
    right = cv2.resize(body, (66, height), interpolation=cv2.INTER_AREA)
    return np.hstack([left, np.zeros((height, 2), np.uint8), right])


def _printed(font: str, character: str) -> np.ndarray | None:
    face = ImageFont.truetype(font, 96)
    mask = face.getmask(character)
    missing = face.getmask("\uffff")
    if min(mask.size) < 4 or (mask.size == missing.size and bytes(mask) == bytes(missing)):
        return None
    ink = np.array(mask, np.uint8).reshape(mask.size[::-1])
    rows, cols = np.nonzero(ink > 40)
    if not len(rows):
        return None
    return ink[rows.min() : rows.max() + 1, cols.min() : cols.max() + 1]


def _stacked(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    return np.vstack([cv2.resize(part, (92, 46), interpolation=cv2.INTER_AREA) for part in (upper, lower)])


def cursive_soldier(rng: np.random.Generator) -> np.ndarray:
    """The soldier as brushes write it: an upright that runs through, a bar, two short strokes a side."""
    canvas = np.zeros((100, 92), np.uint8)
    weight = int(rng.integers(5, 11))
    strokes = [
        ((0.5, 0.02), (0.5, 0.98)),
        ((0.04, 0.68), (0.96, 0.68)),
        ((0.34, 0.16), (0.1, 0.44)),
        ((0.2, 0.32), (0.38, 0.52)),
        ((0.66, 0.16), (0.9, 0.44)),
        ((0.8, 0.32), (0.62, 0.52)),
    ]
    for start, end in strokes:
        points = np.array([start, end]) * (91, 99) + rng.normal(0, 2.5, (2, 2))
        thick = max(3, weight + int(rng.integers(-2, 3)))
        a, b = np.round(points * 8).astype(int)
        cv2.line(canvas, (int(a[0]), int(a[1])), (int(b[0]), int(b[1])), 255, thick, cv2.LINE_AA, 3)
    return canvas


@dataclass(frozen=True)
class Pen:
    """How a deck's glyphs are written: weight in pixels of 96 (below 0 thinner), how far strokes waver
    (pixels), how dry the ink is (0-1), and the lean."""

    weight: float
    waver: float
    dry: float
    lean: float

    def write(self, ink: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A glyph in this hand: (h, w) uint8."""
        edge = 8
        ink = cv2.copyMakeBorder(ink, edge, edge, edge, edge, cv2.BORDER_CONSTANT)
        height, width = ink.shape
        if self.waver > 0 or self.lean:
            grid = rng.normal(0, self.waver, (2, 5, 5)).astype(np.float32)
            shift = [cv2.resize(each, (width, height), interpolation=cv2.INTER_CUBIC) for each in grid]
            y, x = np.mgrid[0:height, 0:width].astype(np.float32)
            x += shift[0] + self.lean * (y - height / 2)
            ink = cv2.remap(ink, x, y + shift[1], cv2.INTER_LINEAR)
        if self.weight:
            size = int(abs(self.weight)) * 2 + 1
            shape = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
            thinner = cv2.erode(ink, shape)
            if self.weight > 0:
                ink = cv2.dilate(ink, shape)
            elif thinner.sum() > 0.5 * ink.sum():  # thin strokes would be gone
                ink = thinner
        if self.dry > 0:
            grain = cv2.resize(rng.random((24, 24)).astype(np.float32), (width, height))
            ink = (ink * np.clip(1.15 - self.dry * grain, 0.25, 1)).astype(np.uint8)
        return np.asarray(ink)


# ---- decks ----


@dataclass(frozen=True)
class CardDeck:
    """What all cards of a pack share.

    glyphs: ink (h, w) uint8 of every piece, written by one pen. words: small ones by rank, for the middle.
    papers, inks: BGR by colour letter, `j` the jokers'. length: in widths. radius: of the corners, widths.
    top, size: where the upper glyph begins and how large it is (width, height), widths. frame: inset of the
    frame's lines (across, along) and their weight, 0 for none. middle: what stands between the glyphs
    (`empty`, `line`, `word`, `ornament`, `text`, `maker`), and the size of words there, widths. border: black
    rim, widths. index: marks at the very tip that count the rank (`notches` in the border, `lines`, `dots`;
    empty: none). circles: jokers stand in coloured ones. sayings: the maker's words, each a column of inks.
    gloss: how much it mirrors lamps. worn: 0-1.
    """

    glyphs: Mapping[str, np.ndarray]
    words: Mapping[str, np.ndarray]
    papers: Mapping[str, Colour]
    joker_papers: tuple[Colour, ...]
    inks: Mapping[str, Colour]
    length: float
    radius: float
    top: float
    size: tuple[float, float]
    frame: tuple[float, float, float]
    middle: str
    word_size: float
    border: float
    index: str
    circles: bool
    sayings: tuple[tuple[np.ndarray, ...], ...]
    gloss: float
    worn: float

    def end_quads(self) -> np.ndarray:
        """The two framed glyphs, (2, 4, 2) in card coordinates, each from its own top-left, clockwise."""
        pad = 0.12
        low = max(0.0, self.top - pad)
        high = min(self.length / 2, self.top + self.size[1] + pad)
        upper = np.array([[0, low], [1, low], [1, high], [0, high]])
        return np.stack([upper, (1, self.length) - upper])

    def picture(self, piece: str, rng: np.random.Generator) -> np.ndarray:
        """A printed card, (length * WIDTH, WIDTH, 4) uint8 BGRA.

        piece: a name, `title`, `blank` or `back`.
        """
        height = round(self.length * WIDTH)
        joker = piece in JOKERS
        suit = piece[1] if piece in PIECES else COLOURS[int(rng.integers(4))]
        paper = self.papers[suit]
        number = JOKERS.index(piece) if joker else 0
        if joker and not self.circles:
            paper = self.joker_papers[number]
        elif joker:
            paper = self.papers["w"]
        card = np.empty((height, WIDTH, 3), np.float32)
        card[:] = paper
        mottle = cv2.resize(rng.normal(0, 2.5, (height // 18 + 2, 5)).astype(np.float32), (WIDTH, height))
        card += mottle[..., None]
        ink = np.array(self.inks["j" if joker else suit], np.float32)
        if piece == "back":
            self._back(card, rng)
        elif piece == "title":
            self._title(card, ink, rng)
        elif piece != "blank":
            if joker and self.circles:
                self._circle(card, self.joker_papers[number], ink)
            self._frame(card, ink)
            self._index(card, piece, ink, paper)
            self._print(card, self.glyphs[piece], ink)
            self._middle(card, piece, ink, rng)
        self._wear(card, rng)
        return np.dstack([np.clip(card, 0, 255).astype(np.uint8), self._outline(height)])

    def _print(self, card: np.ndarray, glyph: np.ndarray, ink: np.ndarray) -> None:
        wide, high = (max(6, round(each * WIDTH)) for each in self.size)
        middle = ((WIDTH - wide) // 2 + wide // 2, round(self.top * WIDTH) + high // 2)
        for view in (card, card[::-1, ::-1]):
            print_ink(view, glyph, middle, (wide, high), ink)

    def _frame(self, card: np.ndarray, ink: np.ndarray) -> None:
        height = card.shape[0]
        across, along, weight = self.frame
        tone = tuple(map(float, ink))
        if self.border:
            rim = max(1, round(self.border * WIDTH))
            cv2.rectangle(card, (0, 0), (WIDTH - 1, height - 1), tone, 2 * rim)
        if weight:
            x, y = round(across * WIDTH), round(along * WIDTH)
            cv2.rectangle(
                card, (x, y), (WIDTH - 1 - x, height - 1 - y), tone, max(1, round(weight)), cv2.LINE_AA
            )

    def _index(self, card: np.ndarray, piece: str, ink: np.ndarray, paper: Colour) -> None:
        """Marks at both tips, as many as the rank's number."""
        if not self.index or piece not in PIECES:
            return
        count, deep = RANKS.index(piece[0]) + 1, max(2, round(min(0.07, self.top * 0.45) * WIDTH))
        tone = paper if self.index == "notches" else tuple(map(float, ink))
        for view in (card, card[::-1, ::-1]):
            layer = np.ascontiguousarray(view)
            if self.index == "notches":  # they are cut into a black tip
                layer[:deep] = ink
            for mark in range(count):
                x = round((mark + 1) * WIDTH / (count + 1))
                if self.index == "dots":
                    cv2.circle(layer, (x, deep // 2 + 1), max(1, deep // 3), tone, -1, cv2.LINE_AA)
                else:
                    cv2.rectangle(layer, (x - 1, 0), (x + 1, deep), tone, -1)
            view[:] = layer

    def _circle(self, card: np.ndarray, paper: Colour, ink: np.ndarray) -> None:
        height = card.shape[0]
        middle = round((self.top + self.size[1] / 2) * WIDTH)
        radius = round(max(self.size) * 0.62 * WIDTH)
        for y in (middle, height - 1 - middle):
            cv2.circle(card, (WIDTH // 2, y), radius, paper, -1, cv2.LINE_AA)
            cv2.circle(card, (WIDTH // 2, y), radius, tuple(map(float, ink)), 1, cv2.LINE_AA)

    def _middle(self, card: np.ndarray, piece: str, ink: np.ndarray, rng: np.random.Generator) -> None:
        height = card.shape[0]
        free = height - 2 * round((self.top + self.size[1]) * WIDTH)
        centre = (WIDTH // 2, height // 2)
        tone = tuple(map(float, ink))
        if free < WIDTH * 0.3 or self.middle == "empty":
            return
        if self.middle == "line":
            reach = round(free * 0.36)
            cv2.line(
                card, (centre[0], centre[1] - reach), (centre[0], centre[1] + reach), tone, 1, cv2.LINE_AA
            )
        elif self.middle == "word" and piece[0] in self.words:
            high = round(min(self.word_size * WIDTH, free * 0.6))
            if piece[0] == "K":
                reach = 0.72 * high
                angles = (np.arange(8) + 0.5) * np.pi / 4
                octagon = centre + reach * np.stack([np.cos(angles), np.sin(angles)], 1)
                cv2.polylines(card, [np.round(octagon).astype(np.int32)], True, tone, 1, cv2.LINE_AA)
            print_ink(card, self.words[piece[0]], centre, (high, high), ink)
        elif self.middle == "maker" and self.sayings:
            saying = self.sayings[0][:4]
            high = round(min(self.word_size * WIDTH, free * 0.8 / len(saying)))
            first = centre[1] - high * (len(saying) - 1) / 2
            for line, word in enumerate(saying):
                print_ink(card, word, (centre[0], round(first + line * high)), (high * 0.9, high * 0.9), ink)
        elif self.middle == "text":
            for line, text in enumerate(("MADE", "IN", "SET")):
                at = (centre[0] - 16, centre[1] - 12 + 12 * line)
                _letters(card, text, at, 0.36, tone)
        elif self.middle == "ornament":
            size = round(min(0.16 * WIDTH, free * 0.2))
            diamond = np.array([[0, -size], [size, 0], [0, size], [-size, 0]]) + centre
            cv2.polylines(card, [diamond.astype(np.int32)], True, tone, 1, cv2.LINE_AA)
            cv2.circle(card, centre, max(1, size // 3), tone, -1, cv2.LINE_AA)

    def _title(self, card: np.ndarray, ink: np.ndarray, rng: np.random.Generator) -> None:
        """A maker's card: columns of words, large and small, at times a frame, a picture or Latin letters."""
        height = card.shape[0]
        tone = tuple(map(float, ink))
        edge = 0.06 * WIDTH
        for _ in range(int(rng.choice([0, 1, 2], p=[0.35, 0.45, 0.2]))):
            inset = round(edge)
            cv2.rectangle(
                card, (inset, inset), (WIDTH - 1 - inset, height - 1 - inset), tone, int(rng.integers(1, 4))
            )
            edge += rng.uniform(0.05, 0.09) * WIDTH
        top, end = edge + 0.05 * WIDTH, height - edge - 0.05 * WIDTH
        if rng.random() < 0.45:
            # A picture at one end or amid the words.
            radius = rng.uniform(0.22, 0.42) * WIDTH
            y = top + radius if rng.random() < 0.6 else rng.uniform(top + radius, end - radius)
            _emblem(card, (WIDTH / 2, y), radius, tone, rng)
            if y < height / 2:
                top = y + radius + 2
            else:
                end = y - radius - 2
        if rng.random() < 0.2:
            text = LATIN[int(rng.integers(len(LATIN)))]
            layer = np.ascontiguousarray(card.transpose(1, 0, 2)[::-1]) if rng.random() < 0.5 else card
            x, y = layer.shape[1] * 0.5 - 4.5 * len(text), layer.shape[0] * rng.uniform(0.2, 0.8)
            _letters(layer, text, (round(x), round(y)), rng.uniform(0.35, 0.6), tone)
            if layer is not card:
                card[:] = layer[::-1].transpose(1, 0, 2)
        sayings = [self.sayings[int(k)] for k in rng.permutation(len(self.sayings))]
        if not sayings:
            return
        if rng.random() < 0.25:
            # Both ends bear it, as those of other cards bear their glyph.
            word = sayings[0][0]
            size = (self.size[0] * WIDTH, self.size[1] * WIDTH)
            for view in (card, card[::-1, ::-1]):
                print_ink(view, word, (WIDTH // 2, round(top + size[1] / 2)), size, ink)
            top, end = top + size[1] + 4, end - size[1] - 4
        inner = WIDTH - 2 * edge
        while sayings and end - top > 0.3 * WIDTH:
            columns = int(rng.choice([1, 2, 3], p=[0.65, 0.28, 0.07]))
            part, sayings = sayings[:columns], sayings[columns:]
            longest = max(map(len, part))
            high = min(rng.uniform(0.3, 0.8) * WIDTH, (end - top) / min(longest, 3))
            wide = min(inner / columns * rng.uniform(0.75, 0.98), high * rng.uniform(0.9, 1.15))
            for column, saying in enumerate(reversed(part)):
                x = WIDTH / 2 + (column - (columns - 1) / 2) * inner / columns
                for line, word in enumerate(saying):
                    y = top + high * (line + 0.5)
                    if y + high / 2 > end + 1:
                        break
                    print_ink(card, word, (round(x), round(y)), (wide * 0.95, high * 0.95), ink)
            top += high * longest + rng.uniform(0.05, 0.4) * WIDTH

    def _back(self, card: np.ndarray, rng: np.random.Generator) -> None:
        tone = tuple(float(each) for each in rng.uniform(20, 220, 3))
        if rng.random() < 0.5:
            card[:] = tone
        step = int(rng.integers(8, 20))
        for at in range(-card.shape[0], card.shape[0], step):
            cv2.line(card, (0, at), (WIDTH, at + WIDTH), tuple(255 - each for each in tone), 1, cv2.LINE_AA)

    def _wear(self, card: np.ndarray, rng: np.random.Generator) -> None:
        height = card.shape[0]
        if rng.random() < self.worn:
            for _ in range(int(rng.integers(1, 4))):
                y = int(rng.integers(height))
                tilt = int(rng.normal(0, 8))
                tone = (235.0, 240.0, 240.0) if rng.random() < 0.6 else (70.0, 75.0, 80.0)
                layer = card.copy()
                cv2.line(layer, (0, y), (WIDTH, y + tilt), tone, int(rng.integers(1, 3)), cv2.LINE_AA)
                card += (layer - card) * rng.uniform(0.15, 0.5)
        if rng.random() < self.worn:
            y, x = np.mgrid[0:height, 0:WIDTH].astype(np.float32)
            at = rng.uniform(0, 1, 2) * (WIDTH, height)
            spot = np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / (2 * rng.uniform(8, 40) ** 2))
            card *= 1 - rng.uniform(0.05, 0.25) * spot[..., None]
        if rng.random() < self.worn:
            rim = int(rng.integers(1, 4))
            layer = card.copy()
            cv2.rectangle(layer, (0, 0), (WIDTH - 1, height - 1), (225.0, 230.0, 232.0), rim)
            card += (layer - card) * rng.uniform(0.2, 0.6)

    def _outline(self, height: int) -> np.ndarray:
        mask = np.zeros((height, WIDTH), np.uint8)
        radius = round(min(self.radius, 0.5) * WIDTH)
        if radius < 1:
            return mask + 255
        cv2.rectangle(mask, (radius, 0), (WIDTH - 1 - radius, height - 1), 255, -1)
        cv2.rectangle(mask, (0, radius), (WIDTH - 1, height - 1 - radius), 255, -1)
        for x in (radius, WIDTH - 1 - radius):
            for y in (radius, height - 1 - radius):
                cv2.circle(mask, (x, y), radius, 255, -1, cv2.LINE_AA)
        return mask


def print_ink(
    paper: np.ndarray,
    word: np.ndarray,
    centre: tuple[int, int],
    size: tuple[float, float],
    ink: np.ndarray,
) -> None:
    """Print a character on paper, (h, w, 3) float32, so large (width, height; pixels) around a point, cut at
    the paper's edges."""
    wide, high = (max(4, round(each)) for each in size)
    alpha = cv2.resize(word, (wide, high), interpolation=cv2.INTER_AREA).astype(np.float32)[..., None] / 255
    left, top = centre[0] - wide // 2, centre[1] - high // 2
    x, y = max(0, -left), max(0, -top)
    part = paper[top + y : max(0, top + high), left + x : max(0, left + wide)]
    part += (ink - part) * alpha[y:, x:][: part.shape[0], : part.shape[1]]


def _emblem(
    card: np.ndarray,
    centre: tuple[float, float],
    radius: float,
    tone: tuple[float, ...],
    rng: np.random.Generator,
) -> None:
    """A maker's mark: a coin, a flower, a star, a beast of a kind, within rings."""
    x, y = round(centre[0]), round(centre[1])
    colour = tone if rng.random() < 0.6 else tuple(float(each) for each in rng.uniform(20, 235, 3))
    for ring in range(int(rng.integers(0, 3))):
        cv2.circle(card, (x, y), round(radius * (1 - 0.12 * ring)), tone, 1, cv2.LINE_AA)
    inner = radius * rng.uniform(0.5, 0.8)
    kind = int(rng.integers(4))
    if kind == 0:
        cv2.circle(card, (x, y), round(inner), colour, max(2, round(inner * 0.3)), cv2.LINE_AA)
        hole = max(1, round(inner * 0.28))
        cv2.rectangle(card, (x - hole, y - hole), (x + hole, y + hole), tone, 1)
        return
    if kind == 3:
        for _ in range(int(rng.integers(3, 7))):
            away = rng.normal(0, 0.35 * inner, 2)
            reach = rng.uniform(0.15, 0.5, 2) * inner + 1
            at = (round(centre[0] + away[0]), round(centre[1] + away[1]))
            size = (round(reach[0]), round(reach[1]))
            cv2.ellipse(card, at, size, rng.uniform(0, 180), 0, 360, colour, -1, cv2.LINE_AA)
        return
    points = int(rng.integers(4, 9))
    angles = np.linspace(0, 2 * np.pi, 16 * points, endpoint=False) + rng.uniform(0, np.pi)
    waves = np.abs((angles * points / np.pi) % 2 - 1) if kind == 1 else np.cos(angles * points) ** 2
    reach = inner * (0.4 + 0.6 * waves)
    outline = centre + reach[:, None] * np.stack([np.cos(angles), np.sin(angles)], 1)
    cv2.fillPoly(card, [np.round(outline).astype(np.int32)], colour, cv2.LINE_AA)


def _letters(card: np.ndarray, text: str, at: tuple[int, int], size: float, tone: tuple[float, ...]) -> None:
    """Print latin letters on a float picture; OpenCV writes on 8 bits only."""
    canvas = np.zeros(card.shape[:2], np.uint8)
    cv2.putText(canvas, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, 255, 1, cv2.LINE_AA)
    card += (np.array(tone, np.float32) - card) * (canvas.astype(np.float32)[..., None] / 255)


def _bgr(rgb: tuple[int, int, int], rng: np.random.Generator, spread: float) -> Colour:
    b, g, r = np.clip(np.array(rgb[::-1]) + rng.normal(0, spread, 3), 0, 255)
    return float(b), float(g), float(r)


def random_deck(
    fonts: Sequence[str], spare: Sequence[str], rng: np.random.Generator, wordy: float = 0.3
) -> CardDeck:
    """A pack of cards. fonts: files to choose from. spare: files for glyphs that the chosen one lacks, and
    for words. wordy: how often words stand in the middle, and marks at the tips.
    """
    font = fonts[int(rng.integers(len(fonts)))]
    others = [fonts[int(k)] for k in rng.permutation(len(fonts))] + list(spare)
    pen = Pen(
        weight=float(rng.choice([0, 0, 0, 1, 2, 3, -1])),
        waver=rng.uniform(1.0, 4.0) if rng.random() < 0.45 else 0.0,
        dry=rng.uniform(0.2, 0.8) if rng.random() < 0.3 else 0.0,
        lean=rng.normal(0, 0.06) if rng.random() < 0.3 else 0.0,
    )
    long = rng.random() < 0.6
    length = rng.uniform(4.5, 6.0) if long else rng.uniform(2.3, 3.4)
    wide = rng.uniform(0.5, 0.76)
    top = rng.uniform(0.14, 0.4) if not long else rng.uniform(0.14, min(0.75, 0.12 * length))
    high = min(wide * rng.uniform(0.9, 1.45), length / 2 - top - 0.06)
    middles = ("empty", "line", "ornament", "text", "word", "maker")
    shares = np.array([0.38, 0.25, 0.25, 0.12]) * (1 - wordy)
    yellow_ink = _bgr((130, 20, 15), rng, 8)
    black = _bgr((28, 24, 24), rng, 6)
    print_colour = rng.random()
    inks = dict.fromkeys((*COLOURS, "j"), black)
    if print_colour < 0.25:
        inks["y"] = yellow_ink
    elif print_colour < 0.32:
        inks = dict.fromkeys(inks, yellow_ink)
    return CardDeck(
        glyphs=_written(font, others, pen, rng),
        words=_words(others, rng),
        papers={suit: _bgr(rgb[int(rng.integers(len(rgb)))], rng, 7) for suit, rgb in PAPERS.items()},
        joker_papers=tuple(_bgr(JOKER_PAPERS[k], rng, 10) for k in rng.permutation(len(JOKER_PAPERS))),
        inks=inks,
        length=length,
        radius=rng.uniform(0.12, 0.5) if rng.random() < (0.55 if long else 0.15) else rng.uniform(0, 0.06),
        top=top,
        size=(wide, high),
        frame=(
            rng.uniform(0.05, 0.18),
            rng.uniform(0.05, max(0.06, min(top - 0.05, 0.065 * length))),
            0.0 if rng.random() < 0.2 else rng.uniform(1, 3),
        ),
        middle=str(rng.choice(middles, p=[*shares, 0.7 * wordy, 0.3 * wordy])),
        word_size=rng.uniform(0.28, 0.6),
        border=rng.uniform(0.02, 0.06) if rng.random() < 0.15 else 0.0,
        index=str(rng.choice(["notches", "lines", "dots"])) if rng.random() < wordy / 2 else "",
        circles=rng.random() < 0.6,
        sayings=_sayings(font, others, rng),
        gloss=rng.uniform(0.2, 1.0) if rng.random() < 0.4 else 0.0,
        worn=rng.uniform(0.1, 0.7) if rng.random() < 0.6 else 0.0,
    )


def _written(font: str, others: Sequence[str], pen: Pen, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The glyphs of every piece, by one pen."""
    warm, cold = FAMILIES[int(rng.integers(len(FAMILIES)))]
    mixed = rng.random() < 0.35
    cursive = cursive_soldier(rng) if rng.random() < 0.12 else None
    chosen: dict[str, str] = {}
    for colour in COLOURS:
        for rank, character in zip(RANKS, warm if colour in "ry" else cold, strict=True):
            if mixed and rng.random() < 0.4:
                character = VARIANTS[rank][int(rng.integers(len(VARIANTS[rank])))]
            chosen[rank + colour] = character
    chosen |= dict(zip(JOKERS, JOKER_GLYPHS, strict=True))
    written: dict[str, np.ndarray] = {}
    found: dict[str, np.ndarray] = {}
    for piece, character in chosen.items():
        if character == "~" or (cursive is not None and piece[0] == "P"):
            character, ink = "~", cursive if cursive is not None else cursive_soldier(rng)
        else:
            ink = _found(character, piece, font, others, rng)
        if character not in found:
            found[character] = pen.write(ink, rng)
        written[piece] = found[character]
    return written


def _found(
    character: str, piece: str, font: str, others: Sequence[str], rng: np.random.Generator
) -> np.ndarray:
    """The glyph in the deck's font; else another one of its rank in that font, or the same in another."""
    if (ink := glyph(font, character)) is not None:
        return ink
    if piece in PIECES and rng.random() < 0.7:
        for other in VARIANTS[piece[0]]:
            if (ink := glyph(font, other)) is not None:
                return ink
    for each in others:
        if (ink := glyph(each, character)) is not None:
            return ink
    return next(
        ink for each in others for other in VARIANTS[piece[0]] if (ink := glyph(each, other)) is not None
    )


def _words(fonts: Sequence[str], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The small words by rank, in some font that has them all."""
    for at in rng.permutation(len(fonts)):
        inks = [glyph(fonts[int(at)], word) for word in WORDS]
        if all(ink is not None for ink in inks):
            return {rank: ink for rank, ink in zip(RANKS, inks, strict=True) if ink is not None}
    return {}


def _sayings(
    font: str, others: Sequence[str], rng: np.random.Generator
) -> tuple[tuple[np.ndarray, ...], ...]:
    """What the maker of a pack prints, in one font: that of the glyphs where it has the words, else another
    one. A kind of words each, in the order in which they are printed.
    """
    order = [others[int(k)] for k in rng.permutation(len(others))]
    kinds = [kind for kind in PRINTED if kind != "plain"]
    wanted = [PRINTED[kind] for kind in (kinds[int(k)] for k in rng.permutation(len(kinds)))]
    words = [some[int(rng.integers(len(some)))] for some in wanted]
    any_of = common_characters()
    for at in np.flatnonzero(rng.random(len(words)) < UNHEARD).tolist():
        words[at] = "".join(any_of[int(k)] for k in rng.integers(len(any_of), size=int(rng.integers(1, 5))))
    for each in [font, *order] if rng.random() < 0.4 else order:
        if glyph(each, "牌") is not None:
            chosen = [_column_of(each, word) for word in words]
            break
    else:
        some = PRINTED["plain"]
        chosen = [_column_of(font, some[int(k)]) for k in rng.permutation(len(some))[:4]]
    return tuple(saying for saying in chosen if saying)


@functools.cache
def common_characters() -> tuple[str, ...]:
    """The characters in common use, some 5,400, without those of ranks and jokers and their twins.

    They are the first level of the character set Big5, which comes sorted by use.
    """
    known = {character for some in VARIANTS.values() for character in some} | {*JOKER_GLYPHS, *TWINS}
    lows = (*range(0x40, 0x7F), *range(0xA1, 0xFF))
    codes = [bytes((high, low)) for high in range(0xA4, 0xC7) for low in lows]
    level = [code.decode("big5") for code in codes if code <= b"\xc6\x7e"]
    return tuple(character for character in level if character not in known)


def _column_of(font: str, words: str) -> tuple[np.ndarray, ...]:
    """The inks of some characters, those left out that the font lacks."""
    return tuple(ink for word in words if (ink := glyph(font, word)) is not None)
