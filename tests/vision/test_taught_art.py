"""Faces that no training ever saw are read by the shipped model after one photo of them."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from datasets.art import FaceSet
from datasets.layouts import Material, random_scene
from datasets.render import Body
from vision.lesson import cut
from vision.load import Photo
from vision.reader import Reader
from vision.sets import TileSets

SIGNS = dict(zip([f"{rank}m" for rank in range(1, 10)], "AEGKNRTXZ", strict=True))
BODY = Body(1.35, 0.7, (236, 244, 246), (60, 130, 40), 0.66, 0.07, 0.09)


def letters() -> FaceSet:
    """A made-up set: a letter on each tile of characters."""
    faces = {}
    for piece, sign in SIGNS.items():
        picture = np.zeros((160, 120, 4), np.uint8)
        ink = np.zeros((160, 120, 3), np.uint8)
        cv2.putText(ink, sign, (18, 118), cv2.FONT_HERSHEY_DUPLEX, 3.6, (255, 255, 255), 9, cv2.LINE_AA)
        picture[..., 3] = ink[..., 0]
        picture[..., :3] = (40, 40, 170)
        faces[piece] = [picture]
    return FaceSet("letters", faces, 1.0, True)


def shot(seed: int) -> tuple[Photo, np.ndarray, list[str]]:
    """A photo of the set laid out, the quads of its faces and their labels."""
    felt = np.full((600, 800, 3), (70, 95, 40), np.uint8)
    art = letters()
    scene = random_scene(
        Material((art,), (felt,)), np.random.default_rng(seed), 1000, 750, "catalogue", art, BODY, False
    )
    height, width = scene.image.shape[:2]
    tiles = [tile for tile in scene.tiles if tile.visible > 0.9]
    quads = np.array([tile.quad for tile in tiles], np.float32)
    return Photo(f"{seed}.png", scene.image, width, height), quads, [tile.label for tile in tiles]


def test_made_up_faces_are_read_after_one_photo(shipped_reader: Reader, tmp_path: Path) -> None:
    tile_set = TileSets(tmp_path).make("letters")
    tile_set.teach(cut(*shot(1)))
    adaptation = tile_set.adaptation(shipped_reader.classifier)
    assert adaptation is not None and adaptation.model == shipped_reader.classifier.sha256
    before = after = total = 0
    labels = np.array(shipped_reader.classifier.labels)
    for seed in (2, 3, 4):
        photo, quads, truth = shot(seed)
        plain = shipped_reader.classifier.read(photo.image, quads)
        taught = shipped_reader.classifier.read(photo.image, quads, adaptation)
        before += int(np.sum(labels[plain.chances.argmax(1)] == truth))
        after += int(np.sum(labels[taught.chances.argmax(1)] == truth))
        total += len(truth)
    assert total >= 20
    assert total - after <= (total - before) / 2


def test_a_set_that_is_switched_off_reads_bit_for_bit_as_none(shipped_reader: Reader, tmp_path: Path) -> None:
    photo, _, _ = shot(5)
    tile_set = TileSets(tmp_path).make("letters")
    tile_set.teach(cut(*shot(1)))
    tile_set.switch(False)
    plain, off = shipped_reader.read(photo), shipped_reader.read(photo, tile_set=tile_set)
    assert off.sightings == plain.sightings and off.melds == plain.melds
    tile_set.switch(True)
    assert shipped_reader.read(photo, tile_set=tile_set).sightings != plain.sightings
    tile_set.clear()
    assert shipped_reader.read(photo, tile_set=tile_set).sightings == plain.sightings
