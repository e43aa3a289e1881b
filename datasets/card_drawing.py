"""Draw four-color cards fast: photo-like pictures by warping printed cards onto the table, with light, wear,
glare and hands painted over.

`random_card_scene` draws one picture with the truth about every card and both its ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from datasets.card_layouts import (
    REFUSED,
    CardMaterial,
    CardScene,
    PlacedCard,
    Tabletop,
    arrange_cards,
    card_corners,
    card_quad,
    random_tabletop,
    true_cards,
    with_print_in_sight,
)
from datasets.cards import CardDeck
from datasets.photographic import photograph
from datasets.render import Camera

STRIPS = 5
"""Flat pieces that a curled card is drawn as."""


def _shrunk(picture: np.ndarray, wide: float) -> np.ndarray:
    """A picture about as small as it will be drawn, so that it is not aliased."""
    scale = wide * 1.15 / picture.shape[1]
    if scale >= 1:
        return picture
    return np.asarray(
        cv2.resize(picture, None, fx=scale, fy=max(scale, 8 / picture.shape[0]), interpolation=cv2.INTER_AREA)
    )


def _paste(
    image: np.ndarray,
    owner: np.ndarray,
    number: int,
    picture: np.ndarray,
    quad: np.ndarray,
    shadow: tuple[int, int, float],
) -> None:
    """Warp a BGRA picture onto a quad, in place. shadow: pixels its shadow is shifted by, how dark it is."""
    dx, dy, dark = shadow
    reach = max(abs(dx), abs(dy)) + 2
    low = np.maximum(np.floor(quad.min(0)).astype(int) - reach, 0)
    high = np.minimum(np.ceil(quad.max(0)).astype(int) + reach + 1, image.shape[1::-1])
    if (high <= low).any():
        return
    (x0, y0), (x1, y1) = low, high
    height, width = picture.shape[:2]
    source = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32) - 0.5
    warp = cv2.getPerspectiveTransform(source, (quad - (x0, y0)).astype(np.float32))
    patch = cv2.warpPerspective(picture, warp, (int(x1 - x0), int(y1 - y0)), flags=cv2.INTER_LINEAR)
    alpha = np.ascontiguousarray(patch[..., 3])
    region = image[y0:y1, x0:x1]
    if dark > 0:
        move = np.array([[1, 0, dx], [0, 1, dy]], np.float32)
        fallen = cv2.blur(cv2.warpAffine(alpha, move, patch.shape[1::-1]), (2 * reach + 1, 2 * reach + 1))
        kept = cv2.cvtColor(cv2.convertScaleAbs(fallen, alpha=-dark, beta=255), cv2.COLOR_GRAY2BGR)
        region = cv2.multiply(region, kept, scale=1 / 255)
    share = alpha.astype(np.float32) / 255
    image[y0:y1, x0:x1] = cv2.blendLinear(np.ascontiguousarray(patch[..., :3]), region, share, 1 - share)
    owner[y0:y1, x0:x1][alpha > 127] = number


def _lit(picture: np.ndarray, upper: float, lower: float) -> np.ndarray:
    """A printed card under light that changes from its upper to its lower edge."""
    factors = np.linspace(upper, lower, picture.shape[0], dtype=np.float32)[:, None, None]
    lit = picture.copy()
    lit[..., :3] = np.minimum(picture[..., :3] * factors, 255)
    return lit


def _glare(picture: np.ndarray, gloss: float, rng: np.random.Generator) -> np.ndarray:
    """A lamp mirrored in a coated card: a soft white band across it."""
    height, width = picture.shape[:2]
    y = np.arange(height, dtype=np.float32)[:, None]
    x = np.arange(width, dtype=np.float32)[None]
    slope = rng.normal(0, 0.5)
    away = y - rng.uniform(0, height) - slope * (x - width / 2)
    band = np.exp(-((away / rng.uniform(6, 60)) ** 2)) * rng.uniform(0.2, 0.9) * gloss
    out = picture.copy()
    out[..., :3] = (picture[..., :3] + (255 - picture[..., :3].astype(np.float32)) * band[..., None]).astype(
        np.uint8
    )
    return out


def draw_scene(
    background: np.ndarray,
    cards: Sequence[PlacedCard],
    deck: CardDeck,
    camera: Camera,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """The cards drawn over a picture of the camera's size; and which card each pixel shows, -1 for none."""
    image = background.copy()
    owner = np.full(image.shape[:2], -1, np.int16)
    whole = card_corners(deck)
    printed: dict[str, np.ndarray] = {}
    sun = rng.normal(0, 1, 2)
    sun /= np.linalg.norm(sun) + 1e-6
    dark = rng.uniform(0.05, 0.45)
    slope = rng.normal(0, 0.08)
    for number in sorted(range(len(cards)), key=lambda k: cards[k].level):
        card = cards[number]
        quad = card_quad(card, deck, camera, whole)
        if not np.isfinite(quad).all() or np.abs(quad).max() > 20000:
            continue
        wide = float(np.linalg.norm(quad[1] - quad[0]))
        if card.piece not in printed or deck.worn > 0.3 or card.piece in REFUSED:
            printed[card.piece] = deck.picture(card.piece, rng)
        picture = printed[card.piece]
        if deck.gloss and rng.random() < 0.5:
            picture = _glare(picture, deck.gloss, rng)
        shift = sun * wide * rng.uniform(0.02, 0.06)
        shadow = (round(float(shift[0])), round(float(shift[1])), dark)
        base = float(rng.uniform(0.95, 1.03))
        if not card.curl:
            _paste(
                image, owner, number, _lit(_shrunk(picture, wide), base + slope, base - slope), quad, shadow
            )
            continue
        cuts = np.linspace(0, deck.length, STRIPS + 1)
        rows = np.round(cuts / deck.length * picture.shape[0]).astype(int)
        for strip in range(STRIPS):
            y0, y1 = cuts[strip], cuts[strip + 1]
            quad = card_quad(card, deck, camera, np.array([[0, y0], [1, y0], [1, y1], [0, y1]]))
            # The way it bows decides how much light each strip catches.
            tilt = card.curl * 0.5 * (strip - (STRIPS - 1) / 2) / STRIPS
            piece = _lit(_shrunk(picture[rows[strip] : rows[strip + 1]], wide), base + tilt, base + tilt)
            _paste(image, owner, number, piece, quad, shadow if strip == 0 else (0, 0, 0.0))
    return image, owner


def _hands(
    image: np.ndarray, owner: np.ndarray, at: np.ndarray, size: float, rng: np.random.Generator
) -> None:
    """A hand that holds the cards at a place: the palm below it, the thumb over them."""
    skin = np.array([120, 150, 205]) * rng.uniform(0.45, 1.15) + rng.normal(0, 8, 3)
    towards = rng.normal(0, 0.35) + (np.pi / 2)
    down = np.array([np.cos(towards), np.sin(towards)])

    def blob(centre: np.ndarray, radii: tuple[float, float], turn: float, tone: np.ndarray) -> None:
        reach = (max(2, int(radii[0])), max(2, int(radii[1])))
        outline = np.asarray(cv2.ellipse2Poly((int(centre[0]), int(centre[1])), reach, int(turn), 0, 360, 12))
        cv2.fillPoly(image, [outline], tuple(float(each) for each in np.clip(tone, 0, 255)), cv2.LINE_AA)
        cv2.fillPoly(owner, [outline], -2)

    turn = np.degrees(towards)
    blob(at + down * size * 1.5, (size * 1.5, size * 0.9), turn, skin * 0.92)
    for finger in range(int(rng.integers(0, 3))):
        blob(
            at + np.array([rng.normal(0, size * 0.6), size * (0.5 + 0.2 * finger)]),
            (size * 0.8, size * 0.2),
            rng.uniform(0, 60),
            skin * 0.97,
        )
    tip = at - down * size * rng.uniform(0.1, 0.6)
    blob(tip + down * size * 0.5, (size * 0.75, size * 0.26), turn + rng.normal(0, 15), skin)
    blob(tip + down * size * 0.0, (size * 0.16, size * 0.13), turn, skin * 1.12)


def _table(tabletop: Tabletop, camera: Camera) -> np.ndarray:
    """The tabletop in perspective."""
    width, height = camera.width, camera.height
    picture, corners = tabletop.picture, tabletop.corners()
    quad = camera.project(np.hstack([corners, np.zeros((4, 1))]))
    if not np.isfinite(quad).all() or np.abs(quad).max() > 60000:
        return np.asarray(cv2.resize(picture, (width, height)))
    h, w = picture.shape[:2]
    warp = cv2.getPerspectiveTransform(
        np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32), quad.astype(np.float32)
    )
    return np.asarray(
        cv2.warpPerspective(
            picture, warp, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
        )
    )


def random_card_scene(
    material: CardMaterial,
    rng: np.random.Generator,
    width: int = 960,
    height: int = 720,
    layout: str | None = None,
    deck: CardDeck | None = None,
) -> CardScene:
    """A photo of cards as somebody might take it, with the truth. Same `rng` state, same scene.

    layout: a name in `LAYOUTS`; deck: the pack that is shown; drawn when None.
    """
    spread = arrange_cards(material, rng, width, height, layout, deck)
    deck, cards, camera, odds = spread.deck, spread.cards, spread.camera, spread.odds
    tabletop = random_tabletop(material, spread.reach, rng, odds)
    image, owner = draw_scene(_table(tabletop, camera), cards, deck, camera, rng)
    held = spread.layout == "fan" or (spread.layout in ("row", "game") and rng.random() < 0.1)
    if held and cards and rng.random() < 0.4:
        middle = [card for card in cards if card.role == "hand"]
        card = middle[len(middle) // 2 + int(rng.integers(-1, 2)) * (len(middle) > 3)]
        low = np.array([[0.5, deck.length * rng.uniform(0.85, 1.1)], [1.5, deck.length]])
        points = card_quad(card, deck, camera, low)
        size = float(np.linalg.norm(points[1] - points[0])) * rng.uniform(0.8, 1.7)
        if np.isfinite(points).all():
            _hands(image, owner, points[0], min(size, 0.14 * max(width, height)), rng)
    drawn = image
    if rng.random() < odds.tinted:
        # A lamp's yellow or a window's blue, beyond what a phone's white balance takes away; or what a green
        # tablecloth or a screen makes of it.
        warm = rng.uniform(0.05, 0.5) * (1 if rng.random() < 0.8 else -0.5)
        tint = np.array((1 - warm, 1 - 0.3 * warm, 1 + 0.2 * warm))
        tint[1] *= 1 + rng.normal(0, 0.08)
        image = np.clip(image * tint, 0, 255).astype(np.uint8)
    if rng.random() < odds.dim:
        image = (image * rng.uniform(0.15, 0.5)).astype(np.uint8)
    scene = CardScene(photograph(image, rng), spread.layout)
    scene.cards = with_print_in_sight(true_cards(cards, deck, camera, owner), scene.image, drawn)
    return scene
