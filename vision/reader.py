"""The whole way from a photo to a `companion.reading.Reading`: choose the deck, locate, classify, arrange."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from companion.installed import readable_decks
from companion.reading import Expectation, Reading, Sighting
from vision.adapt import Adaptation
from vision.classify import Classifier, Pyramid, rectify
from vision.debug import draw_crops, draw_sightings
from vision.decks import CLEAR, DECK_READERS, DeckReader, Look, Seen
from vision.load import Photo
from vision.model import ModelError
from vision.quality import remedies
from vision.sets import TileSet

AUTO = "auto"
"""In place of a deck's name: whichever lies in the photo."""
TILES = "mahjong"
NOTHING = "Neither tiles nor cards were found in the photo."


class Reader:
    """Reads photos of any deck whose models there are. Models are opened when the first photo needs them.

    folder: where the models lie, in place of those that ship. Safe to use from several threads.
    """

    def __init__(self, folder: Path | None = None):
        self.folder = folder
        self._opened: dict[str, DeckReader] = {}
        self._opening = threading.Lock()

    @staticmethod
    def default() -> Reader:
        """The reader with the shipped models: always the same. Raises `ModelError` where those of tiles are
        missing: an installation that is not whole should say so before a photo comes.
        """
        _default.of(TILES)
        return _default

    @property
    def decks(self) -> tuple[str, ...]:
        """Names of the decks that can be read."""
        return readable_decks(self.folder)

    @property
    def classifier(self) -> Classifier:
        """The classifier of tiles, which learns sets."""
        return self.of(TILES).classifier

    def of(self, deck: str) -> DeckReader:
        """What reads this deck. Raises ValueError for an unknown name and `ModelError` where its models are
        missing or altered.
        """
        if deck not in DECK_READERS:
            raise ValueError(f"the deck {deck!r} cannot be read; known: {', '.join((AUTO, *DECK_READERS))}")
        with self._opening:
            if deck not in self._opened:
                self._opened[deck] = DECK_READERS[deck].open(self.folder)
            return self._opened[deck]

    def read(
        self,
        photo: Photo,
        deck: str = AUTO,
        expectation: Expectation | None = None,
        debug: Path | None = None,
        tile_set: TileSet | None = None,
    ) -> Reading:
        """Read a photo. Quads of the result are in pixels of the full upright photo.

        deck: `auto` looks for every deck that can be read, first for that of the expectation, which does not
        count for any other. tile_set: the taught set in the photo; without one, or with one that is switched
        off, nothing differs. debug: how the names of a picture of every stage begin, such as `look/table` for
        `look/table-1-located.jpg`. Raises the same as `of`.
        """
        adaptation = None
        if tile_set is not None and deck in (AUTO, TILES):
            adaptation = tile_set.adaptation(self.classifier)
        start = time.perf_counter()
        expected_deck = None if expectation is None else expectation.deck
        reader, seen, ms = self._look(photo.image, deck, expected_deck, adaptation)
        if expected_deck not in (None, reader.deck):
            expectation = None
        before = time.perf_counter()
        placed = reader.arrange(photo, seen, expectation)
        if not placed.sightings and deck == AUTO and len(self.decks) > 1:
            placed = replace(placed, warnings=(NOTHING,))
        better = remedies(photo.image, reader.deck, placed.sightings, photo.scale)
        done = time.perf_counter()
        if debug is not None:
            _write_debug(debug, photo, seen, placed.sightings)
        return Reading(
            photo=photo.name,
            deck=reader.deck if placed.sightings else None,
            width=photo.width,
            height=photo.height,
            sightings=placed.sightings,
            melds=placed.melds,
            warnings=placed.warnings + better,
            winning=placed.winning,
            unnamed=placed.unnamed,
            ms={
                "load": photo.load_ms,
                **ms,
                "arrange": 1000 * (done - before),
                "total": photo.load_ms + 1000 * (done - start),
            },
        )

    def _look(
        self, image: np.ndarray, deck: str, first: str | None, adaptation: Adaptation | None
    ) -> tuple[DeckReader, Seen, dict[str, float]]:
        """The deck in a photo, what its networks saw, and milliseconds of `locate` and `classify`.

        first: the deck that is looked for before any other, and believed where none is seen clearly.
        """
        names = tuple(sorted(self.decks, key=lambda name: name != first)) if deck == AUTO else (deck,)
        if not names:
            raise ModelError("no models are installed: install again")
        looks: dict[str, Look] = {}
        if len(names) > 1:
            for name in names:
                looks[name] = self.of(name).look(image)
                if looks[name].settles:
                    break
            else:
                looks = {name: self.of(name).look_from_afar(image, looks[name]) for name in names}
            clearest = max(looks, key=lambda name: looks[name].evidence)
            if looks[clearest].settles or looks[clearest].evidence >= CLEAR:
                names = (clearest,)
        sights: dict[str, Seen] = {}
        for name in names:
            taught = adaptation if name == TILES else None
            sights[name] = self.of(name).see(image, looks.get(name), taught)
        chosen = max(names, key=lambda name: sights[name].evidence + (CLEAR if name == first else 0))
        stages = [*(look.ms for look in looks.values()), *(seen.ms for seen in sights.values())]
        ms = {stage: sum(step[stage] for step in stages) for stage in sights[chosen].ms}
        return self.of(chosen), sights[chosen], ms


_default = Reader()


def _write_debug(begin: Path, photo: Photo, seen: Seen, sightings: tuple[Sighting, ...]) -> None:
    """A picture of each stage: where pieces may lie, the rectified faces and how each was read by itself, and
    what was made of them."""
    picture = photo.image.copy()
    for piece in seen.located:
        colour = (0, 0, 255) if piece.kind == "face" else (255, 0, 0)
        cv2.polylines(picture, [np.round(piece.quad).astype(np.int32)], True, colour, 2, cv2.LINE_AA)
    cv2.imwrite(f"{begin}-1-located.jpg", picture)
    crops, _ = rectify(Pyramid(photo.image), seen.read.quads)
    cv2.imwrite(f"{begin}-2-rectified.jpg", draw_crops(crops, _captions(seen)))
    cv2.imwrite(f"{begin}-3-arranged.jpg", draw_sightings(photo.image, sightings, photo.scale))


def _captions(seen: Seen) -> list[str]:
    """What each place was read as by itself, and how surely."""
    captions = []
    for chances, colours in zip(seen.read.chances, seen.read.colours, strict=True):
        best = int(chances.argmax())
        colour = seen.colours[int(colours.argmax())] if seen.colours else ""
        captions.append(f"{seen.labels[best]}{colour} {chances[best]:.0%}")
    return captions
