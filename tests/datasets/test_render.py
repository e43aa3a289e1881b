"""Rendered scenes must tell the truth: where a quad says a face is, the printed face is."""

from collections import Counter

import cv2
import numpy as np
import pytest

from datasets.art import FaceSet, paper_to_alpha
from datasets.layouts import Material, random_scene, set_filter
from datasets.render import Body, Camera, Placed, Pose, face_picture, render

BODY = Body(1.3, 0.7, (240, 245, 245), (40, 160, 40), 0.6, 0.08, 0.1)


def drawn(face: str) -> np.ndarray:
    """Ink without any symmetry, different for each face."""
    rng = np.random.default_rng(sum(map(ord, face)))
    picture = np.zeros((160, 120, 4), np.uint8)
    for _ in range(5):
        corner = rng.integers(5, 80, 2)
        colour = (*(int(c) for c in rng.integers(0, 160, 3)), 255)
        cv2.rectangle(picture, corner.tolist(), (corner + rng.integers(15, 40, 2)).tolist(), colour, -1)
    return picture


ART = FaceSet("test", {f"{r}{s}": [drawn(f"{r}{s}")] for s in "mps" for r in range(1, 10)}, 1.0, True)


@pytest.mark.parametrize("pose", ["up", "stand"])
@pytest.mark.parametrize("roll", [0.0, 0.8, np.pi])
def test_quads_start_at_the_faces_own_top_left(pose: Pose, roll: float) -> None:
    camera = Camera.looking((0, 0, 0.4), 6, 0.9, 0.2, roll, 1.0, 640, 480)
    ground = np.full((480, 640, 3), 90, np.uint8)
    tiles = [Placed("3s", pose, 0.0, 0.0, 0.1)]
    scene = render(ground, tiles, camera, ART, BODY, np.random.default_rng(0))
    (tile,) = scene.tiles
    assert tile.label == "3s" and tile.visible > 0.95
    printed = face_picture("3s", ART, BODY, np.random.default_rng(0))
    height, width = printed.shape[:2]
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    warp = cv2.getPerspectiveTransform(tile.quad.astype(np.float32), target)
    seen = cv2.warpPerspective(scene.image, warp, (width, height))
    inside = printed[..., 3] > 0
    alike = np.corrcoef(seen[inside].mean(-1), printed[inside][:, :3].mean(-1))[0, 1]
    upside_down = np.corrcoef(seen[::-1, ::-1][inside].mean(-1), printed[inside][:, :3].mean(-1))[0, 1]
    assert alike > 0.9
    assert alike > upside_down + 0.3


def test_a_tile_behind_another_is_seen_in_part() -> None:
    camera = Camera.looking((0, 0, 0.4), 8, 0.3, 0, 0, 1.0, 640, 480)
    ground = np.full((480, 640, 3), 90, np.uint8)
    tiles = [Placed("1m", "stand", 0.5, 1.5), Placed("2m", "stand", 0.0, 0.0)]
    scene = render(ground, tiles, camera, ART, BODY, np.random.default_rng(0))
    visible = {tile.label: tile.visible for tile in scene.tiles}
    assert visible["2m"] > 0.95
    assert 0.3 < visible["1m"] < 0.8


def test_a_tile_that_lies_face_down_is_a_back() -> None:
    camera = Camera.looking((0, 0, 0), 6, 1.2, 0, 0, 1.0, 640, 480)
    ground = np.full((480, 640, 3), 90, np.uint8)
    scene = render(ground, [Placed("9p", "down", 0, 0)], camera, ART, BODY, np.random.default_rng(0))
    (tile,) = scene.tiles
    assert tile.label == "back" and tile.role == "back"
    middle = scene.image[tuple(np.round(tile.quad.mean(0)).astype(int)[::-1])]
    assert middle[1] > middle[0] + 30 and middle[1] > middle[2] + 30  # the green of the body's back


def test_a_scene_is_the_same_for_the_same_seed() -> None:
    material = Material((ART,), (np.full((700, 900, 3), 120, np.uint8),))
    for seed in range(6):
        first = random_scene(material, np.random.default_rng(seed), 320, 240)
        second = random_scene(material, np.random.default_rng(seed), 320, 240)
        assert np.array_equal(first.image, second.image)
        assert [t.label for t in first.tiles] == [t.label for t in second.tiles]


@pytest.mark.parametrize("seed", range(12))
def test_a_hand_and_its_melds_come_out_of_one_deck(seed: int) -> None:
    """However few faces a set has: here three suits' ones and twos, and two flowers."""
    few = {name: [drawn(name)] for name in (*(f"{r}{s}" for s in "mps" for r in (1, 2)), "1f", "2f")}
    material = Material((FaceSet("few", few, 1.0, True),), (np.full((700, 900, 3), 120, np.uint8),))
    scene = random_scene(material, np.random.default_rng(seed), 320, 240, layout="slanted")
    own = Counter(tile.label for tile in scene.tiles if tile.role in ("hand", "meld"))
    assert own.total() > 1
    assert all(count <= (1 if face.endswith("f") else 4) for face, count in own.items() if face != "back")


def test_scenes_of_flowers_show_all_that_a_set_has() -> None:
    few = {name: [drawn(name)] for name in ("1m", "2p", "1f", "2f", "5f")}
    material = Material((FaceSet("few", few, 1.0, True),), (np.full((700, 900, 3), 120, np.uint8),))
    shown: Counter[str] = Counter()
    for seed in range(8):
        scene = random_scene(material, np.random.default_rng(seed), 320, 240, layout="flowers")
        count = Counter(tile.label for tile in scene.tiles if tile.label.endswith("f"))
        assert max(count.values(), default=0) <= 1
        shown += count
    assert set(shown) == {"1f", "2f", "5f"} and shown.total() > 16


def test_paper_becomes_transparent_and_ink_stays() -> None:
    face = np.full((160, 120, 3), (180, 210, 215), np.uint8)
    cv2.circle(face, (60, 80), 25, (40, 30, 150), -1)
    ink = paper_to_alpha(face)
    assert ink[80, 60, 3] > 200
    assert ink[30, 30, 3] < 10
    assert ink[80, 60, 2] > ink[80, 60, 0] + 60  # still red


def test_held_out_art_is_never_in_the_training_part() -> None:
    train, held = set_filter("train"), set_filter("held-out")
    for name in ("tile-art/kde-traditional", "tile-art-ink/imahjong-tw", "tile-art/pysol-uni"):
        assert train(name) != held(name)
    with pytest.raises(ValueError, match="held-out"):
        set_filter("test")
