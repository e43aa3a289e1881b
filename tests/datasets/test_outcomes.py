"""What was kept of an earlier reading, and what is lost and gained since."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasets.outcomes import Kept, OutcomesError, compare, load, save

RIGHT = Kept("123m 55p", "123m 55p", True, 5, 5)
WRONG = Kept("123m 56p", "123m 55p", False, 5, 4)
TRAY = Kept("", "123m", None, 3, 3)


def test_every_hand_lost_or_gained_is_named() -> None:
    before = {"a": RIGHT, "b": WRONG, "c": RIGHT, "tray": TRAY, "gone": RIGHT}
    now = {"a": WRONG, "b": RIGHT, "c": RIGHT, "tray": Kept("", "123m", None, 3, 1), "new": RIGHT}
    found = compare(before, now)
    assert [c.photo for c in found.lost] == ["a"] and [c.photo for c in found.gained] == ["b"]
    assert [c.photo for c in found.fewer] == ["a", "tray"] and found.compared == 4
    text = found.text()
    assert "hands lost: 1" in text and "now       123m 56p" in text
    assert "faces right: 1 more in 1 photos, 3 fewer in 2" in text
    assert "tray: 3 of 3 before, now 1" in text
    assert [lost["photo"] for lost in found.to_document()["lost"]] == ["a"]


def test_a_hand_that_is_not_measured_any_more_is_lost() -> None:
    assert compare({"a": RIGHT}, {"a": Kept("", "123m 55p", None, 5, 5)}).lost


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    photos = {"b/1.jpg": RIGHT, "a/2.jpg": TRAY}
    save(tmp_path / "kept.json", photos)
    assert load(tmp_path / "kept.json") == photos


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("{", "is no JSON"),
        ("[]", "was not written by --keep"),
        ('{"version": 9, "photos": {}}', "was not written by --keep"),
        ('{"version": 1, "photos": {"a.jpg": {"hand": 3}}}', "is damaged: a.jpg, hand"),
    ],
)
def test_what_was_not_kept_is_refused(tmp_path: Path, text: str | None, words: str) -> None:
    path = tmp_path / "kept.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(OutcomesError, match=words):
        load(path)
