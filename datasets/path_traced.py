"""Path-traced photos of four-color cards, to measure reading on pictures that no training renderer made.

    python -m datasets.path_traced OUT --count 36 --seed 301 --sets held-out

writes OUT/rendered.json and OUT/rendered/*.jpg in the labelled format of `datasets.make_scenes --deck
four-color`. Cards lie where `datasets.card_layouts` lays them, but rest on each other as stiff bodies do;
they are thin curved sheets with edges, under lamps, tubes and windows, seen through a lens and developed as a
phone does. Needs the extra `path-tracing`: Mitsuba 3 traces the light (with LLVM if this computer has it; an
old one, such as 14, breaks off on some processors: name a newer one in DRJIT_LIBLLVM_PATH), Intel's Open
Image Denoise takes most of the tracer's noise away, and what remains is the camera's.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from datasets.art import data_folder
from datasets.card_layouts import (
    LAYOUTS,
    THICKNESS,
    CardMaterial,
    CardScene,
    PlacedCard,
    Tabletop,
    arrange_cards,
    card_points,
    card_rise,
    load_card_material,
    random_tabletop,
    true_cards,
    with_print_in_sight,
)
from datasets.cards import WIDTH, CardDeck
from datasets.make_scenes import card_scene_entry
from datasets.render import Camera

EVENLY = ("fan", "row", "column", "melds", "fan", "rows", "column", "melds")
"""The layouts in turn, where none is asked for."""

SLAB = 0.013
"""How thick a card is, widths: less than what lies between the printed sides of two, which never touch."""

TEXTURE = 1400
"""Longer side of a table's texture, pixels."""

SHARPER = 2
"""How many times finer than `WIDTH` a card's print is kept."""

BLEED = 4
"""Pixels around each print on the sheet of prints, so that neighbours do not mix."""

LIGHTS = {
    # Linear RGB of what shines, about 2700 K to 7500 K.
    "lamp": ((1.0, 0.58, 0.25), (1.0, 0.74, 0.46)),
    "tube": ((0.92, 1.0, 0.86), (0.86, 1.0, 1.06)),
    "window": ((0.98, 1.0, 1.0), (0.84, 0.96, 1.2)),
}
"""The warmest and the coolest colour of each kind of light."""


class PathTracingError(RuntimeError):
    """What path tracing needs is not installed; the message is for people."""


def load_mitsuba(variant: str | None = None) -> Any:
    """Mitsuba with a variant set: the one given, else `llvm_ad_rgb` with LLVM and `scalar_rgb` without.

    Raises `PathTracingError` where the extra is not installed or the variant is not known.
    """
    try:
        import drjit
        import mitsuba
        import pyoidn  # noqa: F401
        import scipy  # noqa: F401
    except ImportError as error:
        raise PathTracingError(
            f"{error.name} is not installed: path tracing needs the extra `path-tracing`"
        ) from error
    vectorised = drjit.has_backend(drjit.JitBackend.LLVM)
    try:
        mitsuba.set_variant(variant or ("llvm_ad_rgb" if vectorised else "scalar_rgb"))
    except ImportError as error:
        raise PathTracingError(str(error)) from error
    return mitsuba


# ---- cards as bodies ----


def settled(cards: Sequence[PlacedCard], deck: CardDeck) -> tuple[PlacedCard, ...]:
    """The cards, each resting on the table and the cards beneath it as a stiff plate would: nowhere through
    them, and its middle as low as that allows.
    """
    from scipy.optimize import linprog

    across, along = (
        each.ravel()
        for each in np.meshgrid(
            np.linspace(-0.5, 0.5, 13), np.linspace(-deck.length / 2, deck.length / 2, 61)
        )
    )
    spots = np.stack([across + 0.5, deck.length / 2 - along], 1)
    # The plane's height in its middle, and its slopes as what they rise and what they fall.
    limits = np.stack([np.ones_like(across), across, -across, along, -along], 1)
    resting = list(cards)
    done: list[PlacedCard] = []
    for number in sorted(range(len(cards)), key=lambda k: cards[k].level):
        card = cards[number]
        x, y, _ = card_points(card, deck, spots).T
        beneath = np.max([np.zeros_like(x), *(_height(other, deck, x, y) for other in done)], 0)
        needed = beneath + THICKNESS - card_rise(card, deck, along)
        # A card that could rock (its ends curl up) stays level: slopes cost a little.
        found = linprog(
            (1, 0.02, 0.02, 0.02, 0.02), -limits, -needed, bounds=[(None, None), *[(0, None)] * 4]
        )
        lift, right, left, up, down = (float(value) for value in found.x)
        resting[number] = replace(card, lift=lift, lean=(right - left, up - down))
        done.append(resting[number])
    return tuple(resting)


def _height(card: PlacedCard, deck: CardDeck, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How high the printed side of a settled card is over places of the table; 0 beside it."""
    cos, sin = np.cos(card.yaw), np.sin(card.yaw)
    across = (x - card.x) * cos + (y - card.y) * sin
    along = (y - card.y) * cos - (x - card.x) * sin
    height = (card.lift or 0.0) + across * card.lean[0] + along * card.lean[1] + card_rise(card, deck, along)
    margin = 0.02
    inside = (np.abs(across) <= 0.5 + margin) & (np.abs(along) <= deck.length / 2 + margin)
    return np.where(inside, height, 0.0)


@dataclass(frozen=True)
class Sheets:
    """Triangles of all cards: vertices and normals (n, 3), texture coordinates (n, 2), corners (m, 3).

    per_card: triangles of each card, in their order.
    """

    vertices: np.ndarray
    normals: np.ndarray | None
    texture: np.ndarray
    triangles: np.ndarray
    per_card: int


def card_sheets(cards: Sequence[PlacedCard], deck: CardDeck) -> tuple[Sheets, Sheets]:
    """The printed sides of cards, and their edges; texture coordinates are those of `print_sheet`."""
    radius = min(deck.radius, 0.5)
    turns = np.linspace(0, np.pi / 2, 8)
    corner = radius * (1 - np.cos(turns))
    rows = np.unique(np.concatenate([corner, deck.length - corner, np.linspace(0, deck.length, 25)]).round(6))
    near = np.minimum(rows, deck.length - rows)
    inset = radius - np.sqrt(np.maximum(radius**2 - np.maximum(radius - near, 0) ** 2, 0))
    left, right = np.stack([inset, rows], 1), np.stack([1 - inset, rows], 1)
    count = len(rows)
    face = np.stack([left, right], 1).reshape(-1, 2)
    first = 2 * np.arange(count - 1)[:, None]
    face_triangles = np.concatenate([first + np.array([0, 2, 3]), first + np.array([0, 3, 1])], 1).reshape(
        -1, 3
    )
    ring = np.concatenate([left, right[::-1]])
    here = np.arange(2 * count)[:, None]
    there, depth = (here + 1) % (2 * count), 2 * count
    rim_triangles = np.concatenate([here, here + depth, there + depth, here, there + depth, there], 1)
    rim_triangles = rim_triangles.reshape(-1, 3)
    faces, normals, rims, face_texture, rim_texture = [], [], [], [], []
    for number, card in enumerate(cards):
        faces.append(card_points(card, deck, face))
        normals.append(_normals(card, deck, face))
        top = card_points(card, deck, ring)
        rims += [top, top - (0, 0, SLAB)]
        face_texture.append(_on_sheet(face, number, len(cards), deck))
        rim_texture += [_on_sheet(ring, number, len(cards), deck)] * 2
    return (
        Sheets(
            np.concatenate(faces),
            np.concatenate(normals),
            np.concatenate(face_texture),
            _repeated(face_triangles, len(face), len(cards)),
            len(face_triangles),
        ),
        Sheets(
            np.concatenate(rims),
            None,
            np.concatenate(rim_texture),
            _repeated(rim_triangles, 2 * len(ring), len(cards)),
            len(rim_triangles),
        ),
    )


def _repeated(triangles: np.ndarray, vertices: int, times: int) -> np.ndarray:
    return np.asarray((triangles[None] + vertices * np.arange(times)[:, None, None]).reshape(-1, 3))


def _normals(card: PlacedCard, deck: CardDeck, points: np.ndarray) -> np.ndarray:
    """The way the printed side looks, (n, 3), at points in card coordinates."""
    along = deck.length / 2 - points[:, 1]
    rise = card.lean[1] - 8 * card.curl * along / deck.length**2
    cos, sin = np.cos(card.yaw), np.sin(card.yaw)
    normals = np.stack(
        [rise * sin - card.lean[0] * cos, -rise * cos - card.lean[0] * sin, np.ones_like(along)], 1
    )
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))


def _on_sheet(points: np.ndarray, number: int, count: int, deck: CardDeck) -> np.ndarray:
    """Where points in card coordinates of one of `count` cards are on `print_sheet`, (n, 2) from 0 to 1."""
    print_size = np.array([WIDTH, round(deck.length * WIDTH)]) * SHARPER
    cell = print_size + 2 * BLEED
    pixels = points / (1, deck.length) * print_size + BLEED + np.array([number, 0]) * cell
    return np.asarray(pixels / (cell * (count, 1)))


def print_sheet(cards: Sequence[PlacedCard], deck: CardDeck, rng: np.random.Generator) -> np.ndarray:
    """The prints of all cards side by side, uint8 RGB; those of a new deck are alike."""
    printed: dict[str, np.ndarray] = {}
    pictures = []
    for card in cards:
        if card.piece not in printed or deck.worn > 0.3:
            picture = deck.picture(card.piece, rng)[..., 2::-1]
            picture = cv2.resize(picture, None, fx=SHARPER, fy=SHARPER, interpolation=cv2.INTER_CUBIC)
            printed[card.piece] = np.pad(picture, ((BLEED, BLEED), (BLEED, BLEED), (0, 0)), "edge")
        pictures.append(printed[card.piece])
    return np.hstack(pictures)


# ---- light and lens ----


@dataclass(frozen=True)
class Light:
    """A shining rectangle that looks at `aim`. position, aim: (3,) widths. size: its sides, widths. colour:
    linear RGB. share: of the light that falls on the table.
    """

    position: np.ndarray
    aim: np.ndarray
    size: tuple[float, float]
    colour: np.ndarray
    share: float

    def radiance(self) -> np.ndarray:
        """What it must shine with to lay `share` on the table at `aim`."""
        way = self.position - self.aim
        distance = float(np.linalg.norm(way))
        falls = self.size[0] * self.size[1] * (way[2] / distance) / distance**2
        return np.asarray(self.colour * self.share / falls)


@dataclass(frozen=True)
class Room:
    """Two lights and what walls and ceiling send back, (h, w, 3) linear RGB, its middle row the horizon.

    ambient: the share of the walls in the table's light. white: the colour of all that light, green 1.
    """

    lights: tuple[Light, Light]
    walls: np.ndarray
    ambient: float
    white: np.ndarray


def random_room(camera: Camera, aim: np.ndarray, rng: np.random.Generator) -> Room:
    """The light of a living room, a kitchen or a terrace, of which no lamp stands in the picture."""
    ambient = rng.uniform(0.15, 0.5) if rng.random() < 0.8 else rng.uniform(0.6, 0.9)
    key = str(rng.choice(["window", "lamp", "tube"], p=[0.35, 0.4, 0.25]))
    other = str(rng.choice(["window", "lamp", "tube"]))
    part = rng.uniform(0.02, 0.1) if rng.random() < 0.6 else rng.uniform(0.1, 0.4)
    lights = (
        _random_light(key, (1 - ambient) * (1 - part), camera, aim, rng),
        _random_light(other, (1 - ambient) * part, camera, aim, rng),
    )
    # Walls send back what falls on them, with a tint of their own.
    around = sum((light.colour * light.share for light in lights), np.zeros(3)) / (1 - ambient)
    around = around * (1 + rng.normal(0, 0.05, 3))
    height, width = 16, 32
    tone: Any = cv2.resize(rng.uniform(0.3, 1.7, (4, 9)).astype(np.float32), (width, height))
    tone[:, -4:] += (tone[:, :1] - tone[:, -4:]) * np.linspace(0, 1, 4)
    tone[height // 2 :] *= 0.4
    rows = (np.arange(height // 2) + 0.5) / height * np.pi
    falls = np.sin(rows)[:, None] * np.cos(rows)[:, None] * (np.pi / height) * (2 * np.pi / width)
    tone *= ambient / float((tone[: height // 2] * falls).sum())
    total = sum((light.colour * light.share for light in lights), around * ambient)
    return Room(lights, tone[..., None] * around.astype(np.float32), ambient, total / total[1])


def _random_light(
    kind: str, share: float, camera: Camera, aim: np.ndarray, rng: np.random.Generator
) -> Light:
    warm, cool = (np.array(colour) for colour in LIGHTS[kind])
    size: tuple[float, float]
    if kind == "window":
        size, distance = (rng.uniform(35, 90), rng.uniform(45, 100)), rng.uniform(80, 200)
        elevation = np.radians(rng.uniform(20, 50))
    elif kind == "lamp":
        size, distance = (rng.uniform(4, 16), rng.uniform(4, 16)), rng.uniform(40, 100)
        elevation = np.radians(rng.uniform(40, 85))
    else:
        size, distance = (rng.uniform(30, 70), rng.uniform(1.5, 5)), rng.uniform(60, 110)
        elevation = np.radians(rng.uniform(50, 88))
    mirrored = _axes(camera)[0][2] * (1, 1, -1)
    # Who sees a lamp mirrored all over the cards moves aside before taking the photo.
    near = np.cos(np.radians(14 if kind == "lamp" else 32))
    for _ in range(20):
        turn = rng.uniform(0, 2 * np.pi)
        flat = np.cos(elevation)
        ahead = np.array([flat * np.cos(turn), flat * np.sin(turn), np.sin(elevation)])
        if ahead @ mirrored < near:
            break
        elevation *= 0.95
    # Higher than the camera: whatever looks down on a table does not see it.
    distance = max(distance, (camera.position[2] + 4 + max(size)) / ahead[2])
    colour = warm + (cool - warm) * rng.random()
    return Light(aim + distance * ahead, aim, size, colour, share)


def _axes(camera: Camera) -> tuple[np.ndarray, float]:
    """A camera's right, down and ahead, (3, 3) rows, and its focal length, pixels."""
    ahead = camera.matrix[2, :3]
    right = camera.matrix[0, :3] - camera.width / 2 * ahead
    down = camera.matrix[1, :3] - camera.height / 2 * ahead
    focal = float(np.linalg.norm(right))
    return np.stack([right / focal, down / focal, ahead]), focal


# ---- tracing ----


def trace(
    mitsuba: Any,
    cards: Sequence[PlacedCard],
    deck: CardDeck,
    camera: Camera,
    tabletop: Tabletop,
    room: Room,
    rng: np.random.Generator,
    samples: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The light that reaches the camera, (height, width, 3) float32 linear RGB; and which of `cards` each
    pixel shows the print of, -1 for none."""
    import pyoidn

    axes, focal = _axes(camera)
    aim_depth = float(camera.position[2] / -axes[2, 2])
    view = np.eye(4)
    view[:3, 0], view[:3, 1], view[:3, 2], view[:3, 3] = -axes[0], -axes[1], axes[2], camera.position
    look = {
        "to_world": mitsuba.ScalarTransform4f(view),
        "fov": float(np.degrees(2 * np.arctan(max(camera.width, camera.height) / (2 * focal)))),
        "fov_axis": "larger",
        "near_clip": 0.1,
        "far_clip": 10000.0,
    }
    film = {
        "type": "hdrfilm",
        "width": camera.width,
        "height": camera.height,
        "rfilter": {"type": "box"},
        "pixel_format": "rgb",
    }
    pinhole = {"type": "perspective", **look, "film": film}
    lens = {
        "type": "thinlens",
        **look,
        "film": film,
        # A phone's lens opens 1 to 3 mm wide; a card is 20.
        "aperture_radius": float(rng.uniform(0.02, 0.08)),
        "focus_distance": aim_depth * float(rng.uniform(0.93, 1.07)),
    }
    scene = mitsuba.load_dict(_scene(mitsuba, cards, deck, tabletop, room, rng))
    number = int(rng.integers(2**31))
    owner = np.full((camera.height, camera.width), -1, np.int16)
    if cards:
        names = [shape.id() for shape in scene.shapes()]
        finder = mitsuba.load_dict({"type": "aov", "aovs": "triangle:prim_index,shape:shape_index"})
        eye = mitsuba.load_dict(pinhole)
        found = mitsuba.render(scene, sensor=eye, integrator=finder, spp=1, seed=number)
        triangle, shape = np.moveaxis(np.asarray(found)[..., -2:], 2, 0).round().astype(int)
        per_card = card_sheets(cards[:1], deck)[0].per_card
        prints = shape == names.index("prints") + 1  # 0 is where nothing stands
        owner[prints] = triangle[prints] // per_card
    tracer = mitsuba.load_dict(
        {
            "type": "aov",
            "aovs": "albedo:albedo,normal:sh_normal",
            "light": {"type": "path", "max_depth": 3},
        }
    )
    seen = mitsuba.render(scene, sensor=mitsuba.load_dict(lens), integrator=tracer, spp=samples, seed=number)
    layers = np.nan_to_num(np.asarray(seen, np.float32))
    light, albedo, normal = (np.ascontiguousarray(layers[..., k : k + 3]) for k in (0, 3, 6))
    # No sample may outshine the rest: lamps seen in a mirror of a mirror speckle the picture.
    light = np.minimum(light, 20 * float(np.median(light)) + 1e-6)
    return pyoidn.denoise(light, albedo=np.clip(albedo, 0, 1), normal=normal, hdr=True), owner


def _scene(
    mitsuba: Any,
    cards: Sequence[PlacedCard],
    deck: CardDeck,
    tabletop: Tabletop,
    room: Room,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Everything but the camera, as Mitsuba describes scenes."""
    place = mitsuba.ScalarTransform4f
    span = tabletop.span
    far = 60.0
    scene: dict[str, Any] = {
        "type": "scene",
        "walls": {
            "type": "envmap",
            "bitmap": mitsuba.Bitmap(room.walls),
            # Mitsuba's walls stand around the second axis.
            "to_world": place().rotate([1, 0, 0], 90),
            "sampling_weight": room.ambient,
        },
        "table": {
            "type": "rectangle",
            "to_world": place()
            .rotate([0, 0, 1], float(np.degrees(tabletop.turn)))
            .scale([span * far, span * far, 1]),
            "surface": _surface(
                mitsuba,
                np.ascontiguousarray(tabletop.picture[..., ::-1]),
                roughness=rng.uniform(0.3, 0.6),
                index=rng.uniform(1.2, 1.45),
                # Again and again to all sides; its rows run down, the table's coordinates up.
                shown=mitsuba.ScalarTransform3f()
                .translate([0.5 - far / 2, 0.5 + far / 2])
                .scale([far, -far]),
            ),
        },
    }
    for number, light in enumerate(room.lights):
        scene[f"light-{number}"] = {
            "type": "rectangle",
            "to_world": place().look_at(
                origin=[float(v) for v in light.position],
                target=[float(v) for v in light.aim],
                up=[0.0, 0.0, 1.0],
            )
            @ place().scale([light.size[0] / 2, light.size[1] / 2, 1]),
            "emitter": {
                "type": "area",
                "radiance": {"type": "rgb", "value": [float(v) for v in light.radiance()]},
                "sampling_weight": light.share,
            },
        }
    if cards:
        gloss = deck.gloss
        surface = mitsuba.load_dict(
            _surface(
                mitsuba,
                print_sheet(cards, deck, rng),
                roughness=rng.uniform(0.3, 0.5) if not gloss else 0.32 - 0.22 * gloss,
                index=1.35 if not gloss else 1.5,
            )
        )
        for name, sheets in zip(("prints", "edges"), card_sheets(cards, deck), strict=True):
            scene[name] = _mesh(mitsuba, name, sheets, surface)
    return scene


def _surface(
    mitsuba: Any, picture: np.ndarray, *, roughness: float, index: float, shown: Any = None
) -> dict[str, Any]:
    """Print (uint8 RGB) under a coat that mirrors a little.

    index: the coat's index of refraction. shown: what turns texture coordinates into places of the picture.
    """
    return {
        "type": "roughplastic",
        "alpha": float(roughness),
        "int_ior": float(index),
        "diffuse_reflectance": {
            "type": "bitmap",
            "bitmap": mitsuba.Bitmap(np.ascontiguousarray(picture)),
            "wrap_mode": "mirror",
            "to_uv": shown or mitsuba.ScalarTransform3f(),
        },
    }


def _mesh(mitsuba: Any, name: str, sheets: Sheets, surface: Any) -> Any:
    properties = mitsuba.Properties()
    properties["surface"] = surface
    mesh = mitsuba.Mesh(
        name,
        len(sheets.vertices),
        len(sheets.triangles),
        has_vertex_normals=sheets.normals is not None,
        has_vertex_texcoords=True,
        props=properties,
    )
    mesh.set_id(name)
    values = mitsuba.traverse(mesh)
    values["vertex_positions"] = sheets.vertices.astype(np.float32).ravel()
    if sheets.normals is not None:
        values["vertex_normals"] = sheets.normals.astype(np.float32).ravel()
    values["vertex_texcoords"] = sheets.texture.astype(np.float32).ravel()
    values["faces"] = sheets.triangles.astype(np.uint32).ravel()
    values.update()
    return mesh


# ---- developing ----


def develop(light: np.ndarray, white: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What a phone makes of the light in its lens: uint8 BGR of the same size.

    light: (height, width, 3) linear RGB. white: the true colour of what shines, which the phone knows about.
    """
    height, width = light.shape[:2]
    # Phones leave lamplight a little warm, by taste and by mistake.
    gains = white ** -rng.uniform(0.7, 1.0) * (1 + rng.normal(0, 0.02, 3))
    image = light * gains.astype(np.float32)
    brightness = image @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    exposure = rng.uniform(0.16, 0.32) / float(brightness.mean())
    exposure = min(exposure, rng.uniform(0.6, 0.95) / float(np.quantile(brightness, 0.98)))
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    away = ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2
    image = image * exposure * (1 - rng.uniform(0, 0.25) * away)[..., None]
    image = cv2.GaussianBlur(image, (0, 0), rng.uniform(0.35, 0.8) * max(width, height) / 1280 + 0.1)
    # Grains of light and of the sensor, which demosaicing and the phone's own smoothing blur.
    grain = rng.uniform(0.0002, 0.0018)
    noise = rng.normal(0, 1, image.shape).astype(np.float32)
    noise = cv2.GaussianBlur(noise, (0, 0), rng.uniform(0.4, 0.8))
    image = image + 1.5 * noise * np.sqrt(np.maximum(image, 0) * grain + (0.3 * grain) ** 0.5 * grain)
    bright = np.maximum(image, 0)
    knee = 0.7
    shoulder = knee + (1 - knee) * (1 - np.exp(-(bright - knee) / (1 - knee)))
    toned = np.where(bright > knee, shoulder, bright)
    coded = np.where(toned <= 0.0031308, 12.92 * toned, 1.055 * np.maximum(toned, 1e-6) ** (1 / 2.4) - 0.055)
    grey = coded.mean(2, keepdims=True)
    coded = grey + (coded - grey) * rng.uniform(0.95, 1.15)
    coded = coded + rng.uniform(0, 0.6) * (coded - cv2.GaussianBlur(coded, (0, 0), 1.2))
    picture = np.clip(coded[..., ::-1] * 255 + 0.5, 0, 255).astype(np.uint8)
    _, packed = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(70, 97))])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR))


def path_traced_scene(
    mitsuba: Any,
    material: CardMaterial,
    rng: np.random.Generator,
    width: int = 1280,
    height: int = 960,
    layout: str | None = None,
    samples: int = 16,
) -> CardScene:
    """A photo of cards, with the truth. Same `rng` state and same variant of Mitsuba, same scene.

    layout: a name in `LAYOUTS`, drawn when None. samples: paths of light per pixel.
    """
    spread = arrange_cards(material, rng, width, height, layout)
    deck, camera = spread.deck, spread.camera
    # No card is quite flat.
    cards = [
        card if card.curl else replace(card, curl=float(rng.normal(0, 0.012)) * deck.length)
        for card in spread.cards
    ]
    resting = settled(cards, deck)
    tabletop = random_tabletop(material, spread.reach, rng, spread.odds)
    ahead = _axes(camera)[0][2]
    aim = camera.position + ahead * float(camera.position[2] / -ahead[2])
    room = random_room(camera, aim, rng)
    light, owner = trace(mitsuba, resting, deck, camera, tabletop, room, rng, samples)
    scene = CardScene(develop(light, room.white, rng), spread.layout)
    scene.cards = with_print_in_sight(true_cards(resting, deck, camera, owner), scene.image)
    return scene


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--data", type=Path, help="folder of training data (default COMPANION_DATA or ../shared/data)"
    )
    parser.add_argument("--count", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=1280, help="longer side in pixels")
    parser.add_argument("--sets", choices=("train", "held-out", "all"), default="held-out")
    parser.add_argument("--layout", choices=tuple(LAYOUTS), help="default: fan, row, column, melds in turn")
    parser.add_argument(
        "--loose", action="store_true", help="leave much room at times, and hold the phone as it comes"
    )
    parser.add_argument("--samples", type=int, default=16, help="paths of light per pixel")
    parser.add_argument("--variant", help="of Mitsuba (default llvm_ad_rgb, without LLVM scalar_rgb)")
    args = parser.parse_args(argv)
    try:
        mitsuba = load_mitsuba(args.variant)
        material = load_card_material(data_folder(args.data), args.sets, TEXTURE, framed=not args.loose)
    except (PathTracingError, FileNotFoundError) as error:
        parser.error(str(error))
    (args.out / "rendered").mkdir(parents=True, exist_ok=True)
    entries = []
    for number in range(args.count):
        rng = np.random.default_rng([args.seed, number])
        layout = args.layout or EVENLY[number % len(EVENLY)]
        size = (args.size, args.size * 3 // 4)
        scene = path_traced_scene(mitsuba, material, rng, *size, layout, args.samples)
        file = f"rendered/traced-{args.seed}-{number:04d}.jpg"
        cv2.imwrite(str(args.out / file), scene.image, [cv2.IMWRITE_JPEG_QUALITY, 93])
        entries.append(card_scene_entry(scene, file))
        # After each scene: they take a while, and the first ones can be looked at.
        (args.out / "rendered.json").write_text(json.dumps(entries), encoding="utf-8")
        print(f"{file}: {layout}, {len(entries[-1]['tiles'])} ends", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
