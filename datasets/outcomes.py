"""How each photo of a folder was read, kept in a file, so that a later reading can be held against it.

`companion evaluate FOLDER --keep FILE` writes the file, `--before FILE` names what was lost and won since.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from datasets.measuring import Outcome

VERSION = 1
"""Of the file; another one is refused."""


class OutcomesError(ValueError):
    """A file that holds no outcomes; the message is for people."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How one photo was read.

    hand: what was read of the hand, its melds after it. labelled: all pieces that the labels give the hand.
    whole: whether the hand was exactly right, None where that is not measured. tiles, right: labelled faces,
    and those read right.
    """

    hand: str
    labelled: str
    whole: bool | None
    tiles: int
    right: int

    @staticmethod
    def of(outcome: Outcome) -> Kept:
        return Kept(
            hand=outcome.hand,
            labelled=outcome.labelled,
            whole=outcome.whole,
            tiles=len(outcome.faces),
            right=sum(match.right for match in outcome.faces),
        )


_FILE = TypeAdapter(dict[str, Kept])


@dataclass(frozen=True, slots=True)
class Change:
    """One photo, before and now."""

    photo: str
    before: Kept
    now: Kept

    def to_document(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed between two readings of the same photos.

    compared: photos in both. lost, gained: hands that were exactly right and are not now, and the other way
    round. fewer, more: all photos in which fewer or more faces are right.
    """

    compared: int
    lost: tuple[Change, ...]
    gained: tuple[Change, ...]
    fewer: tuple[Change, ...]
    more: tuple[Change, ...]

    def to_document(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {
            "compared": self.compared,
            **{
                name: [change.to_document() for change in getattr(self, name)]
                for name in ("lost", "gained", "fewer", "more")
            },
        }

    def text(self) -> str:
        """For people: every hand lost or gained, and every photo with fewer faces right."""
        lines = [f"Held against what was kept, {self.compared} photos:"]
        for title, changes in (("hands lost", self.lost), ("hands gained", self.gained)):
            lines.append(f"  {title}: {len(changes)}")
            for change in changes:
                lines += [
                    f"    {change.photo}",
                    f"      labelled  {change.now.labelled}",
                    f"      before    {change.before.hand}",
                    f"      now       {change.now.hand or 'nothing'}",
                ]
        won = sum(change.now.right - change.before.right for change in self.more)
        gone = sum(change.before.right - change.now.right for change in self.fewer)
        lines.append(
            f"  faces right: {won} more in {len(self.more)} photos, {gone} fewer in {len(self.fewer)}"
        )
        lines += [
            f"    {one.photo}: {one.before.right} of {one.before.tiles} before, now {one.now.right}"
            for one in self.fewer
        ]
        return "\n".join(lines)


def compare(before: Mapping[str, Kept], now: Mapping[str, Kept]) -> Comparison:
    """What changed in the photos that both know."""
    both = [Change(photo, before[photo], now[photo]) for photo in sorted(before.keys() & now.keys())]
    return Comparison(
        compared=len(both),
        lost=tuple(c for c in both if c.before.whole and not c.now.whole),
        gained=tuple(c for c in both if c.now.whole and not c.before.whole),
        fewer=tuple(c for c in both if c.now.right < c.before.right),
        more=tuple(c for c in both if c.now.right > c.before.right),
    )


def kept(outcomes: Iterable[Outcome]) -> dict[str, Kept]:
    """The outcomes by the name of their photo."""
    return {outcome.scene.file: Kept.of(outcome) for outcome in outcomes}


def save(path: Path, photos: Mapping[str, Kept]) -> None:
    """Write the file; raises OSError."""
    document = {"version": VERSION, "photos": {name: asdict(photos[name]) for name in sorted(photos)}}
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> dict[str, Kept]:
    """Read a file that `save` wrote; raises `OutcomesError`."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OutcomesError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise OutcomesError(f"{path} is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise OutcomesError(f"{path} was not written by --keep of this version")
    try:
        return _FILE.validate_python(document.get("photos"))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ", ".join(map(str, fault["loc"]))
        raise OutcomesError(f"{path} is damaged: {place}: {fault['msg']}") from error
