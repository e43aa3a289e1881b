"""One reader for all decks: which deck lies in a photo, and which models are opened for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from companion.installed import readable_decks
from companion.reading import Candidate, Expectation, Sighting
from vision.arrange import Arrangement
from vision.classify import Read
from vision.decks import CardReader, Look, Seen, TileReader
from vision.load import Photo, load_photo
from vision.locate import Located
from vision.model import ModelError
from vision.reader import Reader

ROOT = Path(__file__).parents[2]
NAMES = {"mahjong": "5m", "four-color": "Kr"}


class FakeDeck:
    """Is so sure of the places that it finds, and counts what it is asked."""

    def __init__(self, deck: str, sure: list[float]) -> None:
        self.deck, self.sure, self.looks, self.sights = deck, sure, 0, 0
        self.looks_from_afar = 0
        self.read_as: list[float] = sure  # how sure the places are when they are read and not only glanced at
        self.expectation: Expectation | None = None

    def look(self, image: np.ndarray) -> Look:
        self.looks += 1
        return Look([], np.array(self.sure), {"locate": 10.0, "classify": 1.0})

    def look_from_afar(self, image: np.ndarray, look: Look) -> Look:
        self.looks_from_afar += 1
        return look

    def see(self, image: np.ndarray, look: Look | None, adaptation: Any) -> Seen:
        self.sights += 1
        chances = np.array([[sure, 1 - sure] for sure in self.read_as]).reshape(-1, 2)
        none = np.zeros((len(chances), 0))
        read = Read(np.zeros((len(chances), 4, 2)), chances, np.ones(len(chances)), none, none)
        ms = {"locate": 0.0 if look else 10.0, "classify": 5.0}
        return Seen([], read, (NAMES[self.deck], "reject"), (), ms)

    def arrange(self, photo: Photo, seen: Seen, expectation: Expectation | None) -> Arrangement:
        self.expectation = expectation
        corners = ((0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0))
        return Arrangement((Sighting(corners, (Candidate(NAMES[self.deck], 0.99),)),))


@pytest.fixture
def photo() -> Photo:
    return load_photo(ROOT / "tests/data/cards/photos/melds.jpg")


def reader_of(tiles: list[float], cards: list[float] | None) -> tuple[Reader, dict[str, FakeDeck]]:
    decks = {"mahjong": FakeDeck("mahjong", tiles)}
    if cards is not None:
        decks["four-color"] = FakeDeck("four-color", cards)

    class Given(Reader):
        decks = property(lambda self: tuple(all_decks))  # type: ignore[assignment]

        def of(self, deck: str) -> Any:
            return all_decks[deck]

    all_decks = decks
    return Given(), decks


@pytest.mark.parametrize(
    ("tiles", "cards", "deck"),
    [
        ([0.99] * 14, [0.6] * 16, "mahjong"),
        ([0.6] * 14 + [0.95] * 2, [0.98] * 12, "four-color"),
        ([0.95, 0.9], [0.99] * 6, "four-color"),
        ([0.78] * 9, [0.97] * 2, "four-color"),
        ([0.7, 0.95, 0.95, 0.95], [0.7] * 5, "mahjong"),
    ],
)
def test_the_deck_that_is_seen_more_surely_is_read(
    photo: Photo, tiles: list[float], cards: list[float], deck: str
) -> None:
    reader, decks = reader_of(tiles, cards)
    reading = reader.read(photo)
    assert reading.deck == deck
    assert [decks[name].sights for name in decks] == [int(name == deck) for name in decks]


@pytest.mark.parametrize(
    ("tiles", "cards", "deck"),
    [
        ([0.97], [0.6] * 4, "mahjong"),
        ([0.6], [0.97], "four-color"),
        ([], [], "mahjong"),
    ],
)
def test_where_a_glance_tells_little_the_photo_is_read_as_both(
    photo: Photo, tiles: list[float], cards: list[float], deck: str
) -> None:
    reader, decks = reader_of([0.8], [0.8])
    decks["mahjong"].read_as, decks["four-color"].read_as = tiles, cards
    assert reader.read(photo).deck == deck
    assert [one.sights for one in decks.values()] == [1, 1]


def test_the_deck_of_the_game_is_believed_where_none_is_clear(photo: Photo) -> None:
    reader, decks = reader_of([0.8], [0.8])
    decks["mahjong"].read_as, decks["four-color"].read_as = [0.97] * 2, [0.95]
    cards = Expectation(deck="four-color")
    assert reader.read(photo).deck == "mahjong" and reader.read(photo, expectation=cards).deck == "four-color"
    decks["mahjong"].read_as = [0.97] * 5
    assert reader.read(photo, expectation=cards).deck == "mahjong"


def test_plain_tiles_cost_no_look_at_cards(photo: Photo) -> None:
    reader, decks = reader_of([0.97] * 8, [0.99] * 16)
    reading = reader.read(photo)
    assert reading.deck == "mahjong"
    assert (decks["mahjong"].looks, decks["four-color"].looks) == (1, 0)
    assert (reading.ms["locate"], reading.ms["classify"]) == (10.0, 6.0)


def surfaces(count: int, face: str = "back") -> Seen:
    """So many pieces far apart, all surely of one face."""
    labels = ("5m", "back", "5z", "reject")
    chances = np.tile(np.where(np.array(labels) == face, 0.97, 0.01), (count, 1))
    corners = np.array([[0, 0], [20, 0], [20, 26], [0, 26]], np.float32)
    quads = np.array([corners + 60 * np.array([k % 8, k // 8]) for k in range(count)], np.float32)
    read = Read(quads, chances, np.ones(count), np.zeros((count, 0)), np.zeros((count, 0)))
    return Seen([Located(quad, "face", 0.9) for quad in quads], read, labels, (), {})


def test_flat_surfaces_do_not_tell_tiles_from_cards() -> None:
    assert surfaces(5, "5m").evidence > 4
    assert surfaces(5, "back").evidence == surfaces(5, "5z").evidence <= 0


def test_a_few_words_of_a_newspaper_that_look_like_tiles_tell_less_than_one_card() -> None:
    newspaper, words = surfaces(100, "reject"), surfaces(100, "5m")
    newspaper.read.chances[:3] = words.read.chances[:3]
    assert newspaper.evidence < 0 < surfaces(1, "5m").evidence < words.evidence


def test_a_checked_cloth_is_no_heap_of_tiles_that_lie_face_down(photo: Photo) -> None:
    reader = TileReader(None, None)  # type: ignore[arg-type]
    few, many = (reader.arrange(photo, surfaces(count)) for count in (8, 40))
    assert len(few.sightings) == 8 and few.warnings == ("Only backs of tiles are in sight.",)
    assert not many.sightings
    assert len(reader.arrange(photo, surfaces(40, "5m")).sightings) == 40


def test_where_first_looks_settle_nothing_the_photo_is_looked_at_from_afar(photo: Photo) -> None:
    reader, decks = reader_of([0.8] * 6, [0.8] * 6)
    reader.read(photo)
    assert [deck.looks_from_afar for deck in decks.values()] == [1, 1]
    reader, decks = reader_of([0.8] * 6, [0.97] * 6)
    reader.read(photo)
    assert [deck.looks_from_afar for deck in decks.values()] == [0, 0]


def test_what_shows_from_afar_is_glanced_at_too(photo: Photo) -> None:
    small, large = surfaces(6, "5m").located, [Located(np.ones((4, 2), np.float32), "face", 0.99)]

    class Both:
        """What locates, and what classifies."""

        labels = ("5m", "reject")
        afar = small

        def first_look(self, image: np.ndarray) -> list[Located]:
            return small

        def from_afar(self, image: np.ndarray, first: list[Located]) -> list[Located]:
            assert first is small
            return self.afar

        def glance(self, image: np.ndarray, quads: np.ndarray) -> np.ndarray:
            return np.tile([0.8, 0.2], (len(quads), 1))

    both = Both()
    deck = TileReader(both, both)  # type: ignore[arg-type]
    look = deck.look(photo.image)
    assert look.located is small and len(look.sure) == 6
    assert deck.look_from_afar(photo.image, look) is look
    both.afar = large + small
    again = deck.look_from_afar(photo.image, look)
    assert again.located == large + small and len(again.sure) == 7
    assert all(again.ms[stage] >= look.ms[stage] for stage in ("locate", "classify"))


FUJIAN = Expectation.of_full((21, 26), "four-color")


def test_the_deck_of_the_game_is_looked_for_first(photo: Photo) -> None:
    reader, decks = reader_of([0.97] * 8, [0.99] * 16)
    reading = reader.read(photo, expectation=FUJIAN)
    assert reading.deck == "four-color"
    assert (decks["mahjong"].looks, decks["four-color"].looks) == (0, 1)
    assert decks["four-color"].expectation is FUJIAN
    assert reading.ms["locate"] == 10.0


@pytest.mark.parametrize("cards", [[0.95, 0.6, 0.6, 0.6, 0.6, 0.6], [0.99] * 2, []])
def test_tiles_are_read_whatever_game_of_cards_is_played(photo: Photo, cards: list[float]) -> None:
    reader, decks = reader_of([0.97] * 14, cards)
    assert reader.read(photo, expectation=FUJIAN).deck == "mahjong"
    assert decks["mahjong"].expectation is None  # what was expected was said of cards
    assert decks["mahjong"].sights == 1 and decks["four-color"].sights == 0


def test_an_expectation_of_any_deck_counts_for_what_is_found(photo: Photo) -> None:
    reader, decks = reader_of([0.97] * 14, [])
    assert reader.read(photo, expectation=Expectation(sizes=(13, 14))).deck == "mahjong"
    assert decks["mahjong"].expectation == Expectation(sizes=(13, 14))


def test_looks_at_both_decks_count_in_the_times_of_the_stages(photo: Photo) -> None:
    reader, _ = reader_of([0.3] * 8, [0.9] * 16)
    reading = reader.read(photo)
    assert (reading.ms["locate"], reading.ms["classify"]) == (20.0, 7.0)


def test_a_named_deck_is_read_whatever_it_looks_like(photo: Photo) -> None:
    reader, decks = reader_of([0.99] * 14, [])
    assert reader.read(photo, deck="four-color").deck == "four-color"
    assert [deck.looks for deck in decks.values()] == [0, 0]


def test_without_models_of_cards_only_tiles_are_looked_for(photo: Photo) -> None:
    reader, decks = reader_of([0.2] * 9, None)
    assert reader.read(photo).deck == "mahjong"
    assert decks["mahjong"].looks == 0


def test_models_are_opened_when_they_are_needed(
    photo: Photo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[tuple[str, Path | None]] = []

    def opens(deck: str) -> Any:
        def open_them(folder: Path | None = None) -> FakeDeck:
            opened.append((deck, folder))
            return FakeDeck(deck, [0.99] * 9)

        return staticmethod(open_them)

    for deck_reader in (TileReader, CardReader):
        monkeypatch.setattr(deck_reader, "open", opens(deck_reader.deck))
    reader = Reader(tmp_path)
    assert reader.decks == () and opened == []
    for name in ("four-color", "mahjong"):
        reader.read(photo, deck=name)
        reader.read(photo, deck=name)
    assert opened == [("four-color", tmp_path), ("mahjong", tmp_path)]


def test_what_is_missing_is_named(photo: Photo, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    with pytest.raises(ModelError, match="four-color-locator is missing"):
        reader.read(photo, deck="four-color")
    with pytest.raises(ModelError, match="no models"):
        reader.read(photo)
    with pytest.raises(ValueError, match="'tarot' cannot be read; known: auto, mahjong, four-color"):
        reader.read(photo, deck="tarot")


def test_a_deck_is_readable_when_both_its_models_lie_there(tmp_path: Path) -> None:
    (tmp_path / "four-color-locator.onnx").write_bytes(b"")
    assert readable_decks(tmp_path) == ()
    (tmp_path / "four-color-reader.onnx").write_bytes(b"")
    assert readable_decks(tmp_path) == ("four-color",)
    assert "mahjong" in readable_decks()
