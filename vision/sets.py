"""The tile sets that this machine was taught, kept on this machine alone.

A folder holds one folder a set: `set.json` (its name and its switch) and one PNG for each kept crop, whose
file name tells the lesson it came with and its label, and whose text chunk tells the source. There is no
index that could disagree with the files: a crop is there or it is not, written whole or not at all, and
several processes may teach the same set at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import tempfile
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from PIL import Image, PngImagePlugin

from companion.home import home
from companion.pieces import NotationError, Piece
from companion.reading import BACK
from vision.adapt import FRAME, SEEN, TOTAL_LOGITS, Adaptation, AdaptationError, Examples, views

Source = Literal["lesson", "correction"]

NAME_LENGTH = 60
MOST_CROPS = 1600
"""Crops a set keeps at most; beyond them a lesson is refused with a word."""

_CROP_NAME = re.compile(r"(\d{8}T\d{12}-[0-9a-f]{8})-(\d{4})-([0-9a-z]{2,4})\.png")
_cached: dict[tuple[str, str], tuple[str, Adaptation]] = {}
_caching = threading.Lock()


class SetError(ValueError):
    """Something about a tile set that cannot be done; the message is for people."""


class Embedder(Protocol):
    """What learning needs of a classifier; `vision.classify.Classifier` is one."""

    labels: tuple[str, ...]
    sha256: str

    def embed(self, crops: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True, slots=True)
class Taught:
    """A labelled crop to be kept: pixels (FRAME, FRAME, 3) uint8 BGR, upright, the face in the middle 50.

    photo: the name of the photo it was cut from; crops of one photo are never measured by each other.
    """

    crop: np.ndarray
    piece: str
    photo: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """A kept crop. key: its name within the set. lesson: what it was kept with; sorts by time."""

    key: str
    lesson: str
    piece: str
    path: Path

    @property
    def when(self) -> datetime:
        return datetime.strptime(self.lesson[:21], "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Measure:
    """How many of `tiles` kept tiles are read right by the shipped reader and by the adapted one.

    held_out: each photo was read with what the other photos taught. Otherwise there is one photo only, and
    `after` says no more than that its own tiles were learned.
    """

    tiles: int
    before: int
    after: int
    held_out: bool


class TileSets:
    """All taught sets of a folder. Makes nothing until a set is made."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = (home() if folder is None else folder) / "sets"

    def all(self) -> list[TileSet]:
        """Every set, by name."""
        try:
            entries = list(self.folder.iterdir())
        except OSError:
            return []
        sets = [TileSet(path) for path in entries if re.fullmatch(r"[0-9a-f]{16}", path.name)]
        return sorted((s for s in sets if s.exists()), key=lambda s: s.name.casefold())

    def get(self, name: str) -> TileSet:
        """The set of this name; SetError when there is none."""
        found = TileSet(self.folder / _key_of(_checked(name)))
        if not found.exists():
            known = ", ".join(s.name for s in self.all()) or "none yet"
            raise SetError(f"there is no tile set {name!r}; known: {known}")
        return found

    def by_key(self, key: str) -> TileSet:
        """The set with this key; SetError when there is none."""
        found = TileSet(self.folder / key)
        if not re.fullmatch(r"[0-9a-f]{16}", key) or not found.exists():
            raise SetError("there is no such tile set")
        return found

    def make(self, name: str) -> TileSet:
        """The set of this name, made when there is none yet. Names differing in case alone are the same."""
        name = _checked(name)
        target = self.folder / _key_of(name)
        if not TileSet(target).exists():
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=self.folder))
                _write(fresh / "set.json", json.dumps({"version": 1, "name": name, "on": True}).encode())
                try:
                    fresh.rename(target)
                except OSError:
                    # Another process made it first: theirs is as good.
                    shutil.rmtree(fresh, ignore_errors=True)
                    if not TileSet(target).exists():
                        raise
            except OSError as error:
                raise SetError(f"the tile set cannot be kept in {self.folder}: {error.strerror}") from error
        return TileSet(target)


class TileSet:
    """One taught set: a folder. The object holds no state, so it is never out of date."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def exists(self) -> bool:
        return (self.folder / "set.json").is_file()

    @property
    def key(self) -> str:
        """A short name for addresses."""
        return self.folder.name

    @property
    def name(self) -> str:
        return str(self._settings().get("name", self.key))

    @property
    def on(self) -> bool:
        """Whether readings use what was learned."""
        return self._settings().get("on") is not False

    def switch(self, on: bool) -> None:
        settings = {"version": 1, "name": self.name, "on": on}
        if not self.exists():
            raise SetError("the tile set was forgotten")
        _write(self.folder / "set.json", json.dumps(settings).encode())

    def kept(self) -> list[Kept]:
        """Every kept crop, the oldest first."""
        try:
            names = sorted(path.name for path in self.folder.iterdir())
        except OSError:
            return []
        found = [(name, match) for name in names if (match := _CROP_NAME.fullmatch(name))]
        return [Kept(name[:-4], m.group(1), m.group(3), self.folder / name) for name, m in found]

    def teach(self, taught: Sequence[Taught], source: Source = "lesson") -> str:
        """Keep crops as one step that `undo` takes back; returns the step's name."""
        if not taught:
            raise SetError("there is nothing to learn")
        if not self.exists():
            raise SetError("the tile set was forgotten")
        if len(self.kept()) + len(taught) > MOST_CROPS:
            raise SetError(f"the tile set {self.name} is full: it keeps at most {MOST_CROPS} pictures")
        for one in taught:
            _check_piece(one.piece)
            if one.crop.shape != (FRAME, FRAME, 3) or one.crop.dtype != np.uint8:
                raise ValueError(f"a crop must be uint8 ({FRAME}, {FRAME}, 3)")
        lesson = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"
        written: list[Path] = []
        try:
            for number, one in enumerate(taught):
                path = self.folder / f"{lesson}-{number:04d}-{one.piece}.png"
                _write(path, _png(one.crop, source, one.photo))
                written.append(path)
        except OSError as error:
            # A half-learned lesson would look like a whole one.
            for path in written:
                path.unlink(missing_ok=True)
            raise SetError(f"nothing was kept: {error.strerror}") from error
        return lesson

    def undo(self) -> int:
        """Take back the newest step; how many crops went with it, 0 when there was none."""
        kept = self.kept()
        return self._remove(k for k in kept if k.lesson == kept[-1].lesson)

    def delete(self, key: str) -> None:
        """Delete one crop; SetError when there is none of that key."""
        if not self._remove(k for k in self.kept() if k.key == key):
            raise SetError("there is no such picture")

    def clear(self) -> int:
        """Delete every crop; how many there were."""
        return self._remove(self.kept())

    def forget(self) -> None:
        """Delete the set with everything in it."""
        gone = self.folder.with_name(f".gone-{secrets.token_hex(8)}")
        try:
            self.folder.rename(gone)  # at once for every process
        except FileNotFoundError:
            return
        except OSError as error:
            raise SetError(f"the tile set cannot be deleted: {error.strerror}") from error
        shutil.rmtree(gone, ignore_errors=True)

    # ---- what is made of the crops ----

    def adaptation(self, classifier: Embedder) -> Adaptation | None:
        """What the kept crops teach this classifier; None when switched off or nothing was taught.

        Made once for the same crops and the same model, then taken from memory or from the set's folder.
        """
        if not self.on:
            return None
        kept = [k for k in self.kept() if k.piece in classifier.labels]
        if not kept:
            return None
        wanted = hashlib.sha256("\n".join([classifier.sha256, *(k.key for k in kept)]).encode()).hexdigest()
        slot = (str(self.folder), classifier.sha256)
        with _caching:
            if (held := _cached.get(slot)) and held[0] == wanted:
                return held[1]
        found = self._saved(wanted, classifier.sha256)
        if found is None:
            crops, pieces, _ = _load(kept)
            if not pieces:
                return None
            found = learn(crops, pieces, classifier)
            with contextlib.suppress(OSError):  # it can be made again
                _write(self.folder / "learned.npz", wanted.encode() + found.to_bytes())
        with _caching:
            _cached[slot] = (wanted, found)
        return found

    def measure(self, classifier: Embedder) -> Measure:
        """Read the kept crops without and with what was learned, each photo by what the others taught."""
        kept = [k for k in self.kept() if k.piece in classifier.labels]
        crops, pieces, photos_of = _load(kept)
        if not pieces:
            return Measure(0, 0, 0, False)
        truth = np.array([classifier.labels.index(piece) for piece in pieces])
        rim = (FRAME - SEEN) // 2
        embeddings, logits = classifier.embed(np.ascontiguousarray(crops[:, rim:-rim, rim:-rim]))
        before = int(np.sum(logits.argmax(1) == truth))
        photos = np.array(photos_of)
        held_out = len(set(photos_of)) > 1
        after = 0
        for photo in sorted(set(photos_of)):
            mine = photos == photo
            others = ~mine if held_out else mine
            adapted = learn(crops[others], [p for p, o in zip(pieces, others, strict=True) if o], classifier)
            said = adapted.apply(embeddings[mine], TOTAL_LOGITS * logits[mine])
            after += int(np.sum(said.argmax(1) == truth[mine]))
        return Measure(len(pieces), before, after, held_out)

    # ---- files ----

    def _settings(self) -> dict[str, object]:
        try:
            settings = json.loads((self.folder / "set.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return settings if isinstance(settings, dict) else {}

    def _saved(self, wanted: str, model: str) -> Adaptation | None:
        try:
            data = (self.folder / "learned.npz").read_bytes()
            if data[:64] != wanted.encode():
                return None
            saved = Adaptation.from_bytes(data[64:])
        except (OSError, AdaptationError):
            return None
        return saved if saved.model == model else None

    def _remove(self, kept: Iterable[Kept]) -> int:
        count = 0
        for one in kept:
            try:
                one.path.unlink()
                count += 1
            except FileNotFoundError:
                pass  # another process was quicker
        with contextlib.suppress(OSError):
            (self.folder / "learned.npz").unlink(missing_ok=True)
        return count


def learn(crops: np.ndarray, pieces: Sequence[str], classifier: Embedder) -> Adaptation:
    """What labelled crops (n, FRAME, FRAME, 3) teach a classifier about their set."""
    first = max(0, len(crops) - MOST_CROPS)
    seen, of = views(crops[first:])
    embeddings, logits = classifier.embed(seen)
    classes = np.array([classifier.labels.index(piece) for piece in pieces[first:]], int)[of]
    return Adaptation.learn(Examples(embeddings, TOTAL_LOGITS * logits, classes), classifier.sha256)


def _load(kept: Sequence[Kept]) -> tuple[np.ndarray, list[str], list[str]]:
    """Pixels, pieces and photos of kept crops; what went meanwhile or is damaged is left out.

    A crop whose photo has no name stands for the photo of its lesson.
    """
    crops, pieces, photos = [], [], []
    for one in kept:
        try:
            with Image.open(one.path) as picture:
                pixels = np.asarray(picture.convert("RGB"))[..., ::-1]
                photo = str(picture.info.get("photo", "")) or one.lesson
        except (OSError, SyntaxError, ValueError):
            continue
        if pixels.shape == (FRAME, FRAME, 3):
            crops.append(pixels)
            pieces.append(one.piece)
            photos.append(photo)
    return np.array(crops, np.uint8).reshape(len(crops), FRAME, FRAME, 3), pieces, photos


def source_of(kept: Kept) -> tuple[str, str]:
    """Where a crop came from (`lesson` or `correction`) and the name of its photo."""
    try:
        with Image.open(kept.path) as picture:
            return str(picture.info.get("source", "")), str(picture.info.get("photo", ""))
    except (OSError, SyntaxError, ValueError):
        return "", ""


def _png(crop: np.ndarray, source: str, photo: str) -> bytes:
    words = PngImagePlugin.PngInfo()
    words.add_itxt("source", source)
    words.add_itxt("photo", Path(photo).name[:120])
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(crop[..., ::-1])).save(file, "PNG", pnginfo=words)
    return file.getvalue()


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, whatever stops the program."""
    handle, name = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _checked(name: str) -> str:
    name = " ".join(unicodedata.normalize("NFC", name).split())
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise SetError(f"a tile set needs a name of 1 to {NAME_LENGTH} letters")
    return name


def _key_of(name: str) -> str:
    return hashlib.sha256(name.casefold().encode()).hexdigest()[:16]


def _check_piece(piece: str) -> None:
    if piece != BACK:
        try:
            Piece.parse(piece)
        except NotationError as error:
            raise SetError(str(error)) from error
