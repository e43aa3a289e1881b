"""Learning a tile set from embeddings: better where taught, unchanged elsewhere, exact when saved."""

import numpy as np
import pytest

from vision.adapt import FRAME, LOOKS, MOST, SEEN, Adaptation, AdaptationError, Examples, views

CLASSES, SIZE = 20, 64


def faces(rng: np.random.Generator, count: int = CLASSES) -> np.ndarray:
    """One embedding a face, as a network with ReLU gives them."""
    return np.maximum(rng.normal(size=(count, SIZE)), 0)


def looks(rng: np.random.Generator, face: np.ndarray, count: int) -> np.ndarray:
    return np.maximum(face + rng.normal(0, 0.25, (count, SIZE)), 0)


def confused(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """Logits of a reader that takes every third face for its neighbour."""
    logits = rng.normal(0, 0.3, (len(truth), CLASSES))
    said = np.where(truth % 3 == 0, (truth + 1) % CLASSES, truth)
    logits[np.arange(len(truth)), said] += 3
    return logits


def test_misread_faces_are_read_after_one_look_at_each() -> None:
    rng = np.random.default_rng(1)
    art = faces(rng)
    classes = np.arange(CLASSES)
    taught = np.concatenate([looks(rng, face, 3) for face in art])
    truth = np.repeat(classes, 3)
    adaptation = Adaptation.learn(Examples(taught, confused(rng, truth), truth), "model")
    seen = np.concatenate([looks(rng, face, 5) for face in art])
    expected = np.repeat(classes, 5)
    shipped = confused(rng, expected)
    before = np.mean(shipped.argmax(1) == expected)
    after = np.mean(adaptation.apply(seen, shipped).argmax(1) == expected)
    assert before < 0.7 and after > 0.97


@pytest.mark.parametrize("count", [1, 2, 7])
def test_faces_without_examples_are_not_hurt(count: int) -> None:
    rng = np.random.default_rng(count)
    art = faces(rng)
    taught, truth = art[:count], np.arange(count)
    adaptation = Adaptation.learn(Examples(taught, confused(rng, truth), truth), "model")
    others = np.concatenate([looks(rng, face, 5) for face in art[count:]])
    shipped = confused(rng, np.repeat(np.arange(count, CLASSES), 5))
    assert (adaptation.apply(others, shipped).argmax(1) == shipped.argmax(1)).mean() > 0.98


def test_what_was_read_right_already_is_confirmed_and_nothing_else_gains() -> None:
    rng = np.random.default_rng(3)
    art, truth = faces(rng), np.arange(CLASSES)
    sure = 12.0 * np.eye(CLASSES)
    adaptation = Adaptation.learn(Examples(art, sure, truth), "model")
    change = adaptation.apply(art, sure) - sure
    assert (np.diag(change) > 0).all()
    assert (change - np.diag(np.diag(change))).max() < 0.1


def test_what_looks_like_no_example_is_left_alone() -> None:
    """To the bit, however wrong the examples were read."""
    rng = np.random.default_rng(8)
    art, strangers = faces(rng), faces(rng)
    truth = np.arange(CLASSES)
    adaptation = Adaptation.learn(Examples(art, -20.0 * np.eye(CLASSES), truth), "model")
    logits = rng.normal(size=(CLASSES, CLASSES))
    assert np.array_equal(adaptation.apply(strangers, logits), logits)
    assert (adaptation.apply(art, logits).argmax(1) == truth).mean() > 0.9


def test_nothing_learned_changes_nothing_at_all() -> None:
    empty = Adaptation.learn(Examples(np.zeros((0, SIZE)), np.zeros((0, CLASSES)), np.zeros(0, int)), "m")
    logits = np.random.default_rng(0).normal(size=(3, CLASSES)).astype(np.float32)
    assert empty.apply(np.ones((3, SIZE)), logits) is logits
    assert Adaptation.from_bytes(empty.to_bytes()).apply(np.ones((3, SIZE)), logits) is logits


def test_the_saved_form_gives_back_exactly_the_same() -> None:
    rng = np.random.default_rng(4)
    truth = np.arange(CLASSES)
    made = Adaptation.learn(Examples(faces(rng), confused(rng, truth), truth), "0123abcd")
    back = Adaptation.from_bytes(made.to_bytes())
    assert (back.model, back.reach) == ("0123abcd", made.reach)
    assert np.array_equal(back.anchors, made.anchors) and np.array_equal(back.weights, made.weights)
    assert np.array_equal(back.taught, made.taught)
    logits = confused(rng, truth)
    one = faces(rng)
    assert np.array_equal(back.apply(one, logits), made.apply(one, logits))


@pytest.mark.parametrize("cut", [0, 1, 30, -40, -1])
def test_damaged_data_is_refused(cut: int) -> None:
    rng = np.random.default_rng(5)
    truth = np.arange(CLASSES)
    data = Adaptation.learn(Examples(faces(rng), confused(rng, truth), truth), "m").to_bytes()
    with pytest.raises(AdaptationError):
        Adaptation.from_bytes(data[:cut])
    with pytest.raises(AdaptationError):
        Adaptation.from_bytes(b"\x93NUMPY" + data[:50])


def test_views_show_every_quarter_turn_and_stay_within_bounds() -> None:
    crop = np.random.default_rng(6).integers(0, 256, (1, FRAME, FRAME, 3), dtype=np.uint8)
    seen, of = views(crop)
    assert seen.shape == (4 * len(LOOKS), SEEN, SEEN, 3) and set(of) == {0}
    rim = (FRAME - SEEN) // 2
    straight = crop[0, rim:-rim, rim:-rim]
    assert np.array_equal(seen[0], straight) and np.array_equal(seen[1], np.rot90(straight))
    many, of = views(np.zeros((700, FRAME, FRAME, 3), np.uint8))
    assert len(many) <= MOST and set(of) == set(range(700))
    none, of = views(np.zeros((0, FRAME, FRAME, 3), np.uint8))
    assert none.shape == (0, SEEN, SEEN, 3) and len(of) == 0
