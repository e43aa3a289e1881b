"""What reads one deck: its two networks, and what makes pieces in their places out of what they saw."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from companion.reading import BACK, Candidate, Expectation, Sighting
from vision.adapt import Adaptation
from vision.arrange import Arrangement, arrange
from vision.blanks import find_bare
from vision.card_looks import among, gaps_in_columns, turned_from_others
from vision.cards import arrange_cards
from vision.classify import TURNS_ALIKE, Classifier, Read
from vision.ends import CardEnd
from vision.gaps import (
    BLANK,
    MISFIT,
    NOTHING,
    filled_places,
    find_corners,
    find_misfits,
    find_neighbours,
    find_parts,
    find_places,
)
from vision.halves import find_halves
from vision.load import Photo
from vision.locate import FAINT, Located, Locator
from vision.model import open_model
from vision.quality import shorter_sides
from vision.rows import Floats

REJECT = "reject"
"""The class of places that show no piece of the deck."""

GLANCES = 12
"""Places that are glanced at to tell decks apart."""
ENOUGH, BEYOND_DOUBT, SETTLED = 5, 0.9, 0.4
"""So many places, of which that share is so sure, settle which deck it is, whichever is looked for first. Of
those that the networks of tiles find at a glance among cards (392 scenes) less than four in ten are so sure,
mostly none, one in three on newspaper; of those that the networks of cards find among tiles (160 photos, 200
scenes) one in ten at most. Of their own deck a first look settles 585 of these 752 photos.
"""

PLAIN = (BACK, BLANK)
"""What any flat surface may look like tells nothing of the deck."""
MOST_PLAIN, MOSTLY = 24, 0.9
"""More flat surfaces than that, and so large a share of what was found, are a checked cloth or a floor."""
SAYS_NOTHING = 0.75
BY_CHANCE = 0.03
"""Of so large a share of the words of a newspaper any deck is certain."""
CLEAR = 1.5
"""Evidence in favour of a deck that a glance must give; else the photo is read as each of them."""

RANKED = 6
"""How many ways to read a tile are kept at most."""
LEAST = 0.001
"""Ways to read a tile that are less probable than this are left out."""
LEAST_BELIEF = 0.15
"""An end of a card must be so sure to be there, as both networks see it; whether it makes a card is settled
when it is known whether there is another end.
"""
LOOKS_AGAIN = ((1.2, 0.0), (1.0, 0.06))
"""Doubtful ends of cards are looked at again with so many times as much around them, and so many heights
further up. Of 481 such ends 108 were then read wrong, 122 after the first look alone, 136 after none.
"""
SURELY, NEIGHBOURS, MOST_PLACES = 0.8, 2, 12
"""Places that the locator was not sure of are looked at, so many at most, where so many ends that are so sure
lie around them.
"""
IN_GAP, BEYOND = 0.5, 0.85
"""So surely an end of a card lies in a gap of a column, before it is looked at; and so surely it must be
read where a column may go on. Of 387 such places in 96 scenes 6 were read as surely, all of them ends."""
REFUSED = 0.5
"""What so probably is no end of a card is not turned as those around it lie."""
RANK_THERE, SHOWN_THERE, APART = 0.4, 0.7, 0.3
"""There an end shows when it is read with at least these probabilities, of its rank among the cards and of
being one, and lies so many of its sides from the others.
"""
BELIEF = {"score": 1.4, "shown": 0.15, "rank": 0.36, "upright": 0.39}
USUALLY_NONE, NOT_SURE = -1.9, -0.7
"""How much it speaks for an end of a card how sure the networks are that a centre lies there, that it shows
any card, of its rank among the cards, and of the way up, each as log odds; and how much against it before,
and where the locator was not sure: what neighbours say brought such a place here and counts later.
Found by logistic regression over 11,100 places of 276 scenes, one in eight of them no end: what is printed
elsewhere often is some card to the network, but hardly a certain one.
"""
UNSURE, MOST_AGAIN = 0.9, 24
"""Pieces read with less probability are looked at again, so many at most: the likeliest."""
VERY_UNSURE = 0.7
"""A piece that is read with less probability is also looked at where clear neighbours say that its corners
are.
"""
LOOKS, MOVED, AROUND = 6, 0.1, 0.4
"""At most so many looks at what a row misses; a place counts as another one when a corner lies more than the
first share of its width away, and what shows faintly lies there when its centre does not by the second.
"""
JOINED = 0.9
"""Two places that look like halves of one face are one when it is read with at least this probability."""


@dataclass(frozen=True)
class Seen:
    """What the networks of a deck saw in a photo: n places, and what each shows.

    labels, colours: names of the classes, and of the colours that the networks tell (if any). ms:
    milliseconds of `locate` and of `classify`.
    """

    located: list[Located]
    read: Read
    labels: tuple[str, ...]
    colours: tuple[str, ...]
    ms: Mapping[str, float]

    @property
    def evidence(self) -> float:
        """How much speaks for this deck, more than chance would have it (`BY_CHANCE`)."""
        surely = surest(self.read.chances, self.labels, without=PLAIN)
        return evidence_of(surely) - BY_CHANCE * len(surely)

    @property
    def shown(self) -> np.ndarray:
        """The probability (n,) that a place shows a piece of the deck."""
        return np.asarray(1 - self.read.chances[:, self.labels.index(REJECT)])


@dataclass(frozen=True)
class Look:
    """A first look at a photo, for one deck: where pieces may lie, best first, and how surely the best of
    them (`GLANCES`) show a piece of this deck, (n,) 0-1. ms: milliseconds of `locate` and of `classify`.
    """

    located: list[Located]
    sure: np.ndarray
    ms: Mapping[str, float]

    @property
    def evidence(self) -> float:
        """How much speaks for this deck."""
        return evidence_of(self.sure)

    @property
    def settles(self) -> bool:
        """Whether other decks need no look: enough was seen, and enough of it beyond doubt."""
        return len(self.sure) >= ENOUGH and float((self.sure > BEYOND_DOUBT).mean()) >= SETTLED


def surest(chances: np.ndarray, labels: tuple[str, ...], *, without: Sequence[str] = ()) -> np.ndarray:
    """The probability (n,) of the likeliest piece at each place, of the probabilities (n, classes).

    without: labels of pieces that do not count.
    """
    none = [number for number, label in enumerate(labels) if label == REJECT or label in without]
    return np.asarray(np.delete(chances, none, 1).max(1, initial=0))


def worth_a_look(surely: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Which of some pieces, (n,) bool, are looked at again: the numbers of the `MOST_AGAIN` read most
    surely, (n,) 0-1.
    """
    numbers = np.flatnonzero(which)
    return numbers[np.argsort(-surely[numbers], kind="stable")[:MOST_AGAIN]]


def evidence_of(sure: np.ndarray) -> float:
    """How much speaks for a deck of which places show a piece so surely, (n,) 0-1: one for each that is
    certain, nothing for what is less sure than `SAYS_NOTHING`.
    """
    return float(np.maximum((sure - SAYS_NOTHING) / (1 - SAYS_NOTHING), 0).sum())


class DeckReader(ABC):
    """Reads the pieces of one deck. Safe to use from several threads; each network runs on two threads of its
    own.
    """

    deck: ClassVar[str]

    def __init__(self, locator: Locator, classifier: Classifier):
        self.locator, self.classifier = locator, classifier

    @classmethod
    def open(cls, folder: Path | None = None) -> DeckReader:
        """With the models of a folder, or with the shipped ones; raises `vision.model.ModelError`."""
        locator, reader = (open_model(f"{cls.deck}-{part}", folder) for part in ("locator", "reader"))
        return cls(Locator(locator), Classifier(reader))

    def look(self, image: np.ndarray) -> Look:
        """Where pieces may lie in a photo, (height, width, 3) uint8 BGR, and whether the surest places show
        any of this deck.
        """
        start = time.perf_counter()
        return self._glance(image, self.locator.first_look(image), start)

    def look_from_afar(self, image: np.ndarray, look: Look) -> Look:
        """The same with pieces that were too large for a first look."""
        start = time.perf_counter()
        located = self.locator.from_afar(image, look.located)
        if located is look.located:
            return look
        again = self._glance(image, located, start)
        return replace(again, ms={stage: ms + look.ms[stage] for stage, ms in again.ms.items()})

    def _glance(self, image: np.ndarray, located: list[Located], start: float) -> Look:
        """What the surest places seem to show. start: when they began to be located, seconds."""
        between = time.perf_counter()
        faces = [piece.quad for piece in located if piece.kind == "face" and piece.sure][:GLANCES]
        chances = self.classifier.glance(image, np.array(faces, np.float32).reshape(-1, 4, 2))
        sure = surest(chances, self.classifier.labels, without=PLAIN)
        ms = {"locate": 1000 * (between - start), "classify": 1000 * (time.perf_counter() - between)}
        return Look(located, sure, ms)

    def see(self, image: np.ndarray, look: Look | None = None, adaptation: Adaptation | None = None) -> Seen:
        """Where pieces lie in a photo, and what each shows.

        look: what a first look at this photo gave, if there was one. adaptation: what was learned about the
        set in the photo, made for this very classifier.
        """
        start = time.perf_counter()
        found = self.locator.locate(image, None if look is None else look.located, faint=True)
        located, faint = ([piece for piece in found if piece.sure is sure] for sure in (True, False))
        between = time.perf_counter()
        quads = np.array([piece.quad for piece in located], np.float32).reshape(-1, 4, 2)
        read = self.classifier.read(image, quads, adaptation)
        located, read = self._settled(image, located, faint, read, adaptation)
        end = time.perf_counter()
        ms = {"locate": 1000 * (between - start), "classify": 1000 * (end - between)}
        return Seen(located, read, self.classifier.labels, self.classifier.colours, ms)

    def _settled(
        self,
        image: np.ndarray,
        located: list[Located],
        faint: list[Located],
        read: Read,
        adaptation: Adaptation | None,
    ) -> tuple[list[Located], Read]:
        """What was located and read, put right where one tells that the other is wrong. faint: places that
        are not sure, and were not read.
        """
        return located, read

    @abstractmethod
    def arrange(self, photo: Photo, seen: Seen, expectation: Expectation | None = None) -> Arrangement:
        """Pieces in their places; quads in pixels of the full upright photo."""


class TileReader(DeckReader):
    """Reads mahjong tiles: each located place is a tile."""

    deck = "mahjong"

    def _settled(
        self,
        image: np.ndarray,
        located: list[Located],
        faint: list[Located],
        read: Read,
        adaptation: Adaptation | None,
    ) -> tuple[list[Located], Read]:
        """With halves joined, and after more looks: at doubtful pieces from better corners, at those that are
        hardly read where their neighbours say that they are, and at places in rows where pieces were missed
        or located amiss; then beside what was found there.
        """
        located, read = self._joined(image, located, read, adaptation)
        asked = NOTHING
        for number in range(LOOKS):
            located, read, places, mended = self._mended(
                image, located, faint, read, adaptation, asked, again=number == 0
            )
            asked = np.concatenate([asked, places])
            if not mended:
                break
        return located, read

    def _mended(
        self,
        image: np.ndarray,
        located: list[Located],
        faint: list[Located],
        read: Read,
        adaptation: Adaptation | None,
        asked: Floats,
        again: bool,
    ) -> tuple[list[Located], Read, Floats, bool]:
        """One look at what is missed or amiss: what is located and read after it, the places (n, 4, 2) that
        were looked at, and whether any shows a piece.

        asked: (m, 4, 2) places that were looked at before. again: whether doubtful pieces are read again.
        """
        names = np.array(self.classifier.labels)
        said, surely = names[read.chances.argmax(1)], read.chances.max(1)
        quads = read.quads.astype(np.float64)
        doubtful = worth_a_look(surely, (surely < UNSURE) & again)
        shown = np.flatnonzero(~np.isin(said, (REJECT, BACK)))
        telling = ~np.isin(said, PLAIN)
        clear = np.isin(np.arange(len(quads)), shown) & (surely >= UNSURE)
        misfits, longer = (shown[which] for which in find_misfits(quads[shown], clear[shown]))
        clear[misfits] = False
        # What bears no drawing is told from other surfaces by its shape alone.
        none = [*longer[said[longer] == BLANK], *np.flatnonzero(find_parts(quads, clear))]
        rejected = self.classifier.labels.index(REJECT)
        there = np.flatnonzero(read.chances.argmax(1) != rejected)
        empty = np.setdiff1d(np.arange(len(located)), there)
        weak = _quads_of([*faint, *(located[i] for i in empty)])
        places = find_places(quads[there], weak, telling[there])
        places += find_corners(quads, clear, (surely < VERY_UNSURE) & (said != BACK))
        places += find_neighbours(quads, clear, telling)
        places = [place for place in places if not _among(place.quad, asked)]
        wanted = [*quads[doubtful], *(place.quad for place in places)]
        if not wanted:
            rest = np.setdiff1d(np.arange(len(located)), none)
            return [located[i] for i in rest], read.take(rest), NOTHING, False
        more = self.classifier.read(image, np.array(wanted, np.float32), adaptation)
        once_more, new = (more.take(part) for part in np.split(np.arange(len(wanted)), [len(doubtful)]))
        read = read.put(
            doubtful, replace(once_more, chances=(read.chances[doubtful] + once_more.chances) / 2)
        )
        held = read.chances.max(1)
        held[misfits] = np.minimum(held[misfits], MISFIT)
        there = np.flatnonzero(read.chances.argmax(1) != rejected)
        faces = [None if name in (REJECT, BACK) else str(name) for name in names[new.chances.argmax(1)]]
        known = read.quads[there].astype(np.float64)
        bare = np.array(
            [face == BLANK and _shows_at(quad, weak) for face, quad in zip(faces, new.quads, strict=True)]
        )
        if bare.any():
            bare[bare] = find_bare(image, new.quads[bare].astype(np.float64), quads[clear & telling])
        taken, replaced = filled_places(
            places, faces, new.chances.max(1), new.quads, known, held[there], bare
        )
        filled = [Located(new.quads[k], "face", FAINT, sure=False) for k in taken]
        rest = np.setdiff1d(np.arange(len(located)), [*there[replaced], *none])
        looked = np.array([place.quad for place in places]).reshape(-1, 4, 2)
        return [located[i] for i in rest] + filled, read.take(rest) + new.take(taken), looked, bool(taken)

    def _joined(
        self, image: np.ndarray, located: list[Located], read: Read, adaptation: Adaptation | None
    ) -> tuple[list[Located], Read]:
        """The same with one piece, read anew, in place of each two that are halves of it."""
        faces = [i for i, piece in enumerate(located) if piece.kind == "face"]
        pairs = find_halves(np.array([located[i].quad for i in faces], np.float64).reshape(-1, 4, 2))
        if not pairs:
            return located, read
        whole = self.classifier.read(image, np.array([pair.quad for pair in pairs]), adaptation)
        best = whole.chances.argmax(1)
        real = np.array([self.classifier.labels[k] not in (REJECT, BACK) for k in best])
        sure = np.flatnonzero(real & (whole.chances.max(1) >= JOINED))
        halves = {faces[i] for k in sure for i in (pairs[k].first, pairs[k].second)}
        rest = [i for i in range(len(located)) if i not in halves]
        joined = [Located(whole.quads[k], "face", located[faces[pairs[k].first]].score) for k in sure]
        return [located[i] for i in rest] + joined, read.take(rest) + whole.take(sure)

    def arrange(self, photo: Photo, seen: Seen, expectation: Expectation | None = None) -> Arrangement:
        sightings = sightings_of(seen, photo.scale)
        plain = sum(sighting.piece in PLAIN for sighting in sightings)
        if plain > MOST_PLAIN and plain > MOSTLY * len(sightings):
            sightings = []
        return arrange(sightings, photo.width, photo.height, expectation)


def _among(quad: Floats, others: Floats) -> bool:
    """Whether a quad (4, 2) is one of the others (n, 4, 2), or all but."""
    return bool((np.abs(others - quad).max((1, 2), initial=0) < MOVED * shorter_sides(quad[None])).any())


def _shows_at(quad: Floats, weak: Floats) -> bool:
    """Whether one of the weak places (n, 4, 2) lies where a quad (4, 2) does."""
    away = np.linalg.norm(weak.mean(1) - quad.mean(0), axis=1)
    return bool((away < AROUND * shorter_sides(quad[None])).any())


class CardReader(DeckReader):
    """Reads four-color cards: each located place is the framed glyph at an end of a card. The network tells
    its rank, the paper around it the colour.
    """

    deck = "four-color"

    def _settled(
        self,
        image: np.ndarray,
        located: list[Located],
        faint: list[Located],
        read: Read,
        adaptation: Adaptation | None,
    ) -> tuple[list[Located], Read]:
        """After more looks: at ends that were seen another way up than all around them, then at doubtful ends
        and at places that are not sure, but lie among sure ends, and into the gaps of columns.
        """
        labels = self.classifier.labels
        read = self._turned(image, located, read)
        surely, belief = surest(read.chances, labels), _beliefs(located, read, labels)
        doubtful = worth_a_look(surely, (surely < UNSURE) & (belief >= LEAST_BELIEF))
        weak = _quads_of(faint)
        new = among(weak, read.quads[belief >= SURELY].astype(np.float64), NEIGHBOURS)[:MOST_PLACES]
        if len(doubtful) or len(new):
            before = read.take(doubtful)
            wanted = np.concatenate([*_other_looks(before.quads), weak[new]]).astype(np.float32)
            more, count = self.classifier.read(image, wanted), len(doubtful)
            parts = np.split(
                np.arange(len(wanted)), [count * look for look in range(1, len(LOOKS_AGAIN) + 1)]
            )
            *again, there = (more.take(part) for part in parts)
            chances = np.mean([look.chances for look in (before, *again)], 0)
            colours = np.mean([look.colours for look in (before, *again)], 0)
            taken = self._clear(there, read.quads)
            read = read.put(doubtful, replace(before, chances=chances, colours=colours)) + there.take(taken)
            located = located + [faint[new[k]] for k in taken]
        return self._filled(image, located, read)

    def _filled(self, image: np.ndarray, located: list[Located], read: Read) -> tuple[list[Located], Read]:
        """The same with what shows clearly in gaps of columns, and more so beyond them."""
        belief = _beliefs(located, read, self.classifier.labels)
        known, sure = (read.quads[belief >= least].astype(np.float64) for least in (LEAST_BELIEF, SURELY))
        between, beyond = gaps_in_columns(sure)
        beyond = beyond[((beyond > 0) & (beyond < image.shape[1::-1])).all((1, 2))]
        asked = [(place, least) for some, least in ((between, 0.0), (beyond, BEYOND)) for place in some]
        places = [(place, least) for place, least in asked if not _shows_at(place, known)][:MOST_PLACES]
        if not places:
            return located, read
        there = self.classifier.read(image, np.array([place for place, _ in places], np.float32))
        surely = surest(there.chances, self.classifier.labels)
        taken = [k for k in self._clear(there, known) if surely[k] >= places[k][1]]
        new = [Located(places[k][0], "face", IN_GAP) for k in taken]
        return located + new, read + there.take(taken)

    def _clear(self, there: Read, known: Floats) -> NDArray[np.int64]:
        """Which places show an end clearly, by number, apart from those that are known (n, 4, 2)."""
        labels = self.classifier.labels
        shown = 1 - there.chances[:, labels.index(REJECT)]
        clear = (shown >= SHOWN_THERE) & (surest(there.chances, labels) >= RANK_THERE * shown)
        gaps = np.linalg.norm(there.quads.mean(1)[:, None] - known.mean(1), axis=2)
        sides = np.linalg.norm(there.quads[:, 1] - there.quads[:, 0], axis=1)
        return np.flatnonzero(clear & (gaps >= APART * sides[:, None]).all(1))

    def _turned(self, image: np.ndarray, located: list[Located], read: Read) -> Read:
        """The same with doubtful ends read as their neighbours lie, where that is surer."""
        labels = self.classifier.labels
        turned = turned_from_others(read.quads.astype(np.float64), _beliefs(located, read, labels))
        surely, rejected = surest(read.chances, labels), labels.index(REJECT)
        doubtful = (np.minimum(surely, read.upright) < UNSURE) & (read.chances[:, rejected] < REFUSED)
        which = np.array([end for end in turned if doubtful[end]], int)
        if not len(which):
            return read
        ways = np.array([turned[end] for end in which.tolist()], np.float32)
        anew = self.classifier.read(image, ways, as_they_lie=True)
        surer = np.flatnonzero(surest(anew.chances, labels) > surely[which])
        return read.put(which[surer], anew.take(surer))

    def arrange(self, photo: Photo, seen: Seen, expectation: Expectation | None = None) -> Arrangement:
        return arrange_cards(photo.image, ends_of(seen), expectation, photo.scale)


def _other_looks(quads: Floats) -> list[Floats]:
    """Quads (n, 4, 2) as `LOOKS_AGAIN` has them."""
    middles = quads.mean(1, keepdims=True)
    up = (quads[:, :2] - quads[:, 2:]).mean(1, keepdims=True)
    return [middles + (quads - middles) * large + up * moved for large, moved in LOOKS_AGAIN]


def _quads_of(places: list[Located]) -> Floats:
    return np.array([place.quad for place in places], np.float64).reshape(-1, 4, 2)


DECK_READERS: dict[str, type[DeckReader]] = {reader.deck: reader for reader in (TileReader, CardReader)}
"""By name of the deck. Where a photo may show any, the first that explains it best is taken."""


def ends_of(seen: Seen) -> list[CardEnd]:
    """Ends of cards that were seen, places without one left out, and of two that are one end the less sure;
    quads in pixels of the image.
    """
    read = seen.read
    belief = _beliefs(seen.located, read, seen.labels)
    ends = []
    for number in np.flatnonzero((belief >= LEAST_BELIEF) & ~_seen_twice(read.quads, belief)):
        ranks = dict(zip(seen.labels, map(float, read.chances[number]), strict=True))
        del ranks[REJECT]
        colours = dict(zip(seen.colours, map(float, read.colours[number]), strict=True))
        quad = read.quads[number].astype(np.float64)
        ends.append(CardEnd(quad, ranks, colours, float(read.upright[number]), float(belief[number])))
    return ends


def _seen_twice(quads: Floats, belief: Floats) -> NDArray[np.bool_]:
    """Which ends, (n,), lie where a surer one does."""
    middles, wide = quads.mean(1), np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1)
    gaps = np.linalg.norm(middles[:, None] - middles, axis=2)
    surer = (belief > belief[:, None]) & (gaps < APART * np.minimum(wide, wide[:, None]))
    return np.asarray(surer.any(1))


def _beliefs(located: list[Located], read: Read, labels: tuple[str, ...]) -> np.ndarray:
    """How sure it is that there is an end of a card at each place, (n,) 0-1; see `BELIEF`."""
    shown = 1 - read.chances[:, labels.index(REJECT)]
    sure = {
        "score": np.array([piece.score for piece in located]),
        "shown": shown,
        "rank": surest(read.chances, labels) / np.maximum(shown, 1e-9),
        "upright": read.upright,
    }
    odds = USUALLY_NONE + NOT_SURE * np.array([not piece.sure for piece in located], float)
    for name, weight in BELIEF.items():
        chance = np.clip(sure[name], 1e-4, 1 - 1e-4)
        odds += weight * np.log(chance / (1 - chance))
    return np.asarray(1 / (1 + np.exp(-odds)))


def sightings_of(seen: Seen, scale: float) -> list[Sighting]:
    """Sightings of tiles that were seen, places without one left out; quads multiplied by `scale`."""
    names = np.array(seen.labels)
    reject = seen.labels.index(REJECT)
    quads = _facing_alike(seen.read, names)
    found = []
    for quad, chances in zip(quads, seen.read.chances, strict=True):
        if chances.argmax() == reject:
            continue
        order = [i for i in np.argsort(-chances)[: RANKED + 1] if i != reject][:RANKED]
        candidates = tuple(
            Candidate(str(names[i]), float(chances[i])) for i in order if chances[i] >= LEAST or i == order[0]
        )
        corners = tuple((float(x), float(y)) for x, y in quad * scale)
        found.append(Sighting(corners, candidates, "back" if candidates[0].piece == BACK else "hand"))  # type: ignore[arg-type]
    return found


def _facing_alike(read: Read, names: np.ndarray) -> np.ndarray:
    """Quads with pieces that look the same upside-down turned the way of the others.

    Half a turn does not change such a piece; its neighbours say which way up it lies.
    """
    quads = read.quads.copy()
    if not len(quads):
        return quads
    ups = (quads[:, 0] + quads[:, 1] - quads[:, 2] - quads[:, 3]) / 2
    alike = np.array([str(names[i]) in TURNS_ALIKE or str(names[i]) == BACK for i in read.chances.argmax(1)])
    certain = ups[~alike & (read.upright > 0.8)]
    if not len(certain):
        return quads
    common = (certain / np.maximum(np.linalg.norm(certain, axis=1, keepdims=True), 1e-6)).sum(0)
    for i in np.flatnonzero(alike & (ups @ common < 0)):
        quads[i] = np.roll(quads[i], -2, axis=0)
    return quads
