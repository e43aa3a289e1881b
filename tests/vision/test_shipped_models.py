"""The models that ship: their manifests tell the truth, and they read the rendered test photos right."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from companion.installed import PARTS, readable_decks
from companion.reading import Reading
from datasets.evaluate_cards import CardOutcome, measure
from datasets.scenes import Scene, load_scenes
from vision.load import load_photo
from vision.model import open_model
from vision.reader import Reader

ROOT = Path(__file__).parents[2]
TRUTH = json.loads((ROOT / "tests/data/photos.json").read_text(encoding="utf-8"))


CARDS = load_scenes(ROOT / "tests/data/cards")
cards_are_read = pytest.mark.skipif(
    "four-color" not in readable_decks(), reason="this checkout has no models of cards"
)


@pytest.mark.parametrize("name", [f"{deck}-{part}" for deck in readable_decks() for part in PARTS])
def test_the_manifest_describes_the_file(name: str) -> None:
    manifest = json.loads((ROOT / f"models/{name}.json").read_text(encoding="utf-8"))
    data = (ROOT / f"models/{name}.onnx").read_bytes()
    assert manifest["sha256"] == hashlib.sha256(data).hexdigest()
    assert len(data) < 4_000_000
    assert {"training", "measured", "licence"} <= manifest.keys()


def test_the_reader_gives_what_its_manifest_says() -> None:
    model = open_model("mahjong-reader")
    classes, turns, corners, embedding = model.run(np.zeros((3, 64, 64, 3), np.uint8))
    assert classes.shape == (3, len(model.manifest["labels"]))
    assert turns.shape == (3, 4) and corners.shape == (3, 8) and embedding.shape[0] == 3


def read(entry: dict) -> Reading:
    return Reader.default().read(load_photo(ROOT / "tests/data" / entry["file"]))


@pytest.mark.parametrize("entry", TRUTH, ids=lambda entry: Path(entry["file"]).stem)
def test_rendered_photos_are_read_right(entry: dict) -> None:
    reading = read(entry)
    true = sorted(t["label"] for t in entry["tiles"] if t["role"] in ("hand", "meld"))
    assert sorted(s.piece for s in reading.sightings if s.role in ("hand", "meld")) == true


@pytest.mark.parametrize("entry", TRUTH, ids=lambda entry: Path(entry["file"]).stem)
def test_corners_lie_where_the_faces_end(entry: dict) -> None:
    """Every corner, from the piece's own top-left on, within a tenth of the face's height."""
    faces = [t for t in entry["tiles"] if t["role"] in ("hand", "meld")]
    quads = np.array([s.quad for s in read(entry).sightings if s.role in ("hand", "meld")])
    for tile in faces:
        true = np.array(tile["quad"])
        nearest = quads[np.argmin(np.linalg.norm(quads.mean(1) - true.mean(0), axis=1))]
        height = np.linalg.norm(true[3] - true[0])
        assert np.abs(nearest - true).max() < 0.12 * height, tile["label"]


def test_the_test_photos_are_a_labelled_folder() -> None:
    assert len(load_scenes(ROOT / "tests/data")) == len(TRUTH)


@cards_are_read
@pytest.mark.parametrize("scene", CARDS, ids=lambda scene: scene.path.stem)
def test_rendered_photos_of_cards_are_read_right(scene: Scene) -> None:
    """Every card, in order, in its meld; and nobody says that these are cards."""
    outcome = measure(scene, Reader.default().read(load_photo(scene.path)))
    assert isinstance(outcome, CardOutcome) and outcome.told
    assert [match.label.piece for match in outcome.mistakes] == []
    assert not outcome.extra and outcome.groups_right == outcome.groups
    assert outcome.whole and outcome.ordered is not False


@cards_are_read
@pytest.mark.parametrize(
    ("game", "hand", "melds"),
    [
        ("fujian", "KAERHCy KAERHCr KPPPw Kg 1j", ["pung HHHg"]),
        ("guangshui", "KPy KAAAARHCPr KRHCPw KKAAEEg", ["pung HHHw", "pung HHHr", "pung HHHy"]),
    ],
)
def test_the_sample_hands_of_cards_are_read_right(game: str, hand: str, melds: list[str]) -> None:
    reading = Reader.default().read(load_photo(ROOT / f"web/static/samples/{game}-hand.jpg"))
    assert (reading.deck, reading.hand, list(map(str, reading.melds))) == ("four-color", hand, melds)


@cards_are_read
@pytest.mark.parametrize("entry", TRUTH, ids=lambda entry: Path(entry["file"]).stem)
def test_tiles_are_told_from_cards(entry: dict) -> None:
    photo = load_photo(ROOT / "tests/data" / entry["file"])
    told, asked = Reader.default().read(photo), Reader.default().read(photo, deck="mahjong")
    assert told.deck == "mahjong" and told.sightings == asked.sightings


def test_every_stage_leaves_a_debug_picture(tmp_path: Path) -> None:
    photo = load_photo(ROOT / "tests/data/photos/one-row.jpg")
    Reader.default().read(photo, debug=tmp_path / "one-row")
    left = sorted(file.name for file in tmp_path.iterdir())
    assert left == ["one-row-1-located.jpg", "one-row-2-rectified.jpg", "one-row-3-arranged.jpg"]
