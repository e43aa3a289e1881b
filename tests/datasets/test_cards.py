"""Rendered four-color cards: what is printed where, and that a scene shows what is told about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from datasets import make_scenes
from datasets.card_drawing import draw_scene, random_card_scene
from datasets.card_layouts import (
    LAYOUTS,
    REFUSED,
    CardMaterial,
    PlacedCard,
    arrange_cards,
    card_corners,
    card_quad,
    load_card_material,
    true_cards,
    with_print_in_sight,
)
from datasets.cards import (
    COLOURS,
    HELD_OUT_FONTS,
    JOKERS,
    PIECES,
    VARIANTS,
    WIDTH,
    CardDeck,
    cursive_soldier,
    full_fonts,
    glyph,
    random_deck,
    usable_fonts,
)
from datasets.render import Camera
from datasets.scenes import load_scenes


@pytest.fixture(scope="module")
def material(shared: Path) -> CardMaterial:
    # Without the fonts of the computer, whatever they are, the same seed draws the same scene everywhere.
    return replace(load_card_material(shared / "data"), spare=())


@pytest.fixture(scope="module")
def deck(material: CardMaterial) -> CardDeck:
    return random_deck(material.fonts, material.spare, np.random.default_rng(3))


def test_fonts_of_the_validation_scenes_are_never_used(shared: Path) -> None:
    names = {Path(font).stem for font in usable_fonts(shared / "data", "all")}
    assert len(names) > 40
    for word in ("UKai", "UMing", "TW-Kai", "Serif-CJK", "KaitiM", "Mingti"):
        assert not [name for name in names if word in name]
    held_out = {Path(font).stem for font in usable_fonts(shared / "data", "held-out")}
    train = {Path(font).stem for font in usable_fonts(shared / "data", "train")}
    assert held_out == set(HELD_OUT_FONTS)
    assert train == names - held_out
    with pytest.raises(ValueError, match="must be train"):
        usable_fonts(shared / "data", "best")


def test_every_glyph_of_every_rank_can_be_printed(material: CardMaterial) -> None:
    for rank, characters in VARIANTS.items():
        for character in characters.replace("~", ""):
            assert any(glyph(font, character) is not None for font in material.fonts + material.spare), rank
    soldier = cursive_soldier(np.random.default_rng(0))
    assert 0.05 < (soldier > 127).mean() < 0.5
    assert soldier[95, 46] > 100  # the upright runs through


def test_both_ends_bear_the_glyph_and_the_paper_is_the_suit(deck: CardDeck) -> None:
    plain = replace(deck, middle="empty", worn=0.0, border=0.0, frame=(0.1, 0.1, 0.0))
    upper, lower = plain.end_quads()
    assert np.allclose(lower, (1, plain.length) - upper)
    for piece in PIECES[::5] + JOKERS:
        picture = plain.picture(piece, np.random.default_rng(1))
        assert picture.shape == (round(plain.length * WIDTH), WIDTH, 4)
        light = picture[..., :3].astype(int).sum(2)
        dark = light < np.median(light) - 120
        top, bottom = (round(float(y) * WIDTH) for y in (upper[0, 1], upper[2, 1]))
        assert dark[top:bottom].any()
        assert abs(int(dark[top:bottom].sum()) - int(dark[::-1][top:bottom].sum())) < 30
        if piece in PIECES:
            assert not dark[bottom : len(dark) - bottom].any()
            paper = np.median(picture[bottom : len(dark) - bottom, :, :3], (0, 1))
            assert np.abs(paper - plain.papers[piece[1]]).max() < 6


def test_colours_differ_and_cards_that_are_none_bear_no_glyph(deck: CardDeck) -> None:
    rng = np.random.default_rng(2)
    papers = np.array([deck.papers[suit] for suit in COLOURS])
    away = np.abs(papers[:, None] - papers[None]).max(2) + 999 * np.eye(4)
    assert away.min() > 25
    blank = replace(deck, worn=0.0).picture("blank", rng)
    assert blank[..., :3].std((0, 1)).max() < 8
    assert deck.picture("title", rng).shape == deck.picture("back", rng).shape


def test_title_cards_bear_the_words_of_a_maker_the_same_for_the_same_seed(deck: CardDeck) -> None:
    assert deck.sayings and all(deck.sayings)
    first, again, other = (deck.picture("title", np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    plain = replace(deck, worn=0.0, sayings=())
    worded = replace(deck, worn=0.0)
    inked = [one.picture("title", np.random.default_rng(8))[..., :3].astype(int) for one in (plain, worded)]
    dark = [(picture.sum(2) < picture.sum(2).max() - 150).mean() for picture in inked]
    assert dark[1] > dark[0] + 0.03


def test_marks_at_the_tips_count_the_rank(deck: CardDeck) -> None:
    bare = replace(deck, middle="empty", worn=0.0, border=0.0, frame=(0.1, 0.1, 0.0), top=0.3)
    dotted = replace(bare, index="dots")
    tips = {}
    for piece in ("Ar", "Pr"):
        with_marks, without = (one.picture(piece, np.random.default_rng(1)) for one in (dotted, bare))
        changed = np.abs(with_marks[..., :3].astype(int) - without[..., :3]).sum(2) > 90
        assert not changed[round(0.3 * WIDTH) : -round(0.3 * WIDTH)].any()
        assert np.array_equal(changed, changed[::-1, ::-1])
        tips[piece] = cv2.connectedComponents(changed[: len(changed) // 2].astype(np.uint8))[0] - 1
    assert tips == {"Ar": 2, "Pr": 7}


def test_full_copies_of_fonts_kept_out_are_kept_out_too(shared: Path, tmp_path: Path) -> None:
    for name in ("cwtex/cwkai.ttf", "cwtex/cwming.ttf", "arphic-bkai00mp/bkai00mp.ttf"):
        path = tmp_path / "usr/share/fonts/truetype" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = {part: full_fonts(shared / "data", part, tmp_path) for part in ("train", "held-out")}
    new = {
        part: {Path(font).stem for font in fonts} & {"cwkai", "cwming", "bkai00mp"}
        for part, fonts in found.items()
    }
    assert new == {"train": {"cwming"}, "held-out": {"cwkai", "cwming"}}


def test_trying_scenes_show_more_of_what_is_easily_misread(material: CardMaterial) -> None:
    seen: dict[float, Counter[str]] = {}
    for share in (0.0, 1.0):
        seen[share] = Counter()
        for seed in range(12):
            rng = np.random.default_rng([4, seed])
            spread = arrange_cards(replace(material, trying=share), rng, layout="row")
            held = sorted((card for card in spread.cards if card.role == "hand"), key=lambda card: card.place)
            assert max(Counter(card.piece for card in held if card.piece in PIECES).values()) <= 4
            seen[share]["alike"] += sum(a.piece == b.piece for a, b in pairwise(held))
            seen[share]["none"] += sum(card.piece in REFUSED for card in spread.cards)
    assert seen[1.0]["alike"] > 1.2 * seen[0.0]["alike"] and seen[1.0]["none"] > 2 * seen[0.0]["none"]


@pytest.mark.parametrize("layout", ["column", "row"])
def test_framed_photos_are_filled_by_the_cards_whichever_way_they_lie(
    material: CardMaterial, layout: str
) -> None:
    framed = replace(material, framed=True)
    upright: Counter[bool] = Counter()
    for seed in range(12):
        spread = arrange_cards(framed, np.random.default_rng(seed), 1280, 960, layout)
        whole, camera = card_corners(spread.deck), spread.camera
        seen = [card_quad(card, spread.deck, camera, whole) for card in spread.cards]
        wide, high = np.ptp(np.concatenate(seen), 0)
        assert max(wide / camera.width, high / camera.height) > 0.55
        if max(wide, high) > 1.5 * min(wide, high):
            assert (wide < high) == (camera.width < camera.height)
            upright[bool(wide < high)] += 1
    assert upright.total() > 2


def test_what_covers_a_card_is_not_in_sight(deck: CardDeck) -> None:
    """Two cards seen from straight above: the second hides the first one's lower end."""
    flat = replace(deck, radius=0.0, gloss=0.0)
    length = flat.length
    camera = Camera.looking((0.5, -length / 4, 0), 12, np.pi / 2, 0, 0, 1.0, 800, 600)
    below = PlacedCard("Kr", 0, 0, 0, 0)
    above = PlacedCard("Ag", 0, -length / 2, 0, 1)
    table = np.full((600, 800, 3), 60, np.uint8)
    rng = np.random.default_rng(0)
    _, owner = draw_scene(table, [below, above], flat, camera, rng)
    first, second = true_cards([below, above], flat, camera, owner)
    assert first.ends[0].visible > 0.95 > 0.05 > first.ends[1].visible
    assert 0.4 < first.visible < 0.6
    assert min(end.visible for end in second.ends) > 0.95
    # The upper end lies above the lower one, its own top-left first; the lower end is turned by half.
    upper, lower = (end.quad for end in second.ends)
    assert upper[0][1] < upper[3][1] < lower[3][1] < lower[0][1]
    assert upper[0][0] < upper[1][0] and lower[0][0] > lower[1][0]


def test_print_that_glare_darkness_or_blur_swallows_is_not_in_sight(deck: CardDeck) -> None:
    camera = Camera.looking((0.0, 0.0, 0.0), 12.0, np.pi / 2, 0.0, 0.0, 1.0, 640, 480)
    card = PlacedCard("Kr", 0.0, 0.0, 0.0, 0)
    table = np.full((480, 640, 3), 120, np.uint8)
    image, owner = draw_scene(table, [card], deck, camera, np.random.default_rng(1))
    truth = true_cards([card], deck, camera, owner)
    assert with_print_in_sight(truth, image)[0].ends == truth[0].ends
    upper, lower = (end.quad for end in truth[0].ends)
    glaring = image.copy()
    cv2.fillConvexPoly(
        glaring, np.round(upper + 0.5 * (upper - upper.mean(0))).astype(np.int32), (255, 255, 255)
    )
    assert [end.visible > 0.6 for end in with_print_in_sight(truth, glaring)[0].ends] == [False, True]
    dark = (image * 0.02).astype(np.uint8)
    assert [end.visible > 0.6 for end in with_print_in_sight(truth, dark)[0].ends] == [False, False]
    assert np.array_equal(with_print_in_sight(truth, glaring)[0].ends[1].quad, lower)
    soft, blurred = (cv2.GaussianBlur(image, (0, 0), spread) for spread in (0.8, 9.0))
    assert with_print_in_sight(truth, soft, image)[0].ends == truth[0].ends
    assert [end.visible > 0.6 for end in with_print_in_sight(truth, blurred, image)[0].ends] == [False, False]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_drawn_with_its_truth(material: CardMaterial, layout: str) -> None:
    scene = random_card_scene(material, np.random.default_rng([8, len(layout)]), 640, 480, layout)
    again = random_card_scene(material, np.random.default_rng([8, len(layout)]), 640, 480, layout)
    assert np.array_equal(scene.image, again.image)
    assert sorted(scene.image.shape[:2]) == [480, 640]
    real = [seen for seen in scene.cards if seen.card.piece not in REFUSED]
    assert bool(real) == (layout != "empty")
    if layout in ("fan", "row", "column"):
        assert len(real) >= 5
        assert max(Counter(seen.card.piece for seen in real).values()) <= 4
        # Either end of every card can be told, but for what a hand holds.
        told = [max(end.visible for end in seen.ends) > 0.25 for seen in real]
        assert np.mean(told) > 0.7
    if layout == "melds":
        groups = Counter(seen.card.group for seen in real)
        assert max(groups.values()) <= 4
        assert {seen.card.role for seen in real} == {"meld"}


def test_scenes_are_written_in_the_labelled_format(shared: Path, tmp_path: Path) -> None:
    words = [str(tmp_path), "--deck", "four-color", "--count", "3", "--size", "480", "--layout", "melds"]
    assert make_scenes.main([*words, "--data", str(shared / "data"), "--processes", "1"]) == 0
    scenes = load_scenes(tmp_path)
    assert len(scenes) == 3
    for scene in scenes:
        assert cv2.imread(str(scene.path)) is not None
        assert scene.cards and scene.complete
        for end in scene.labels:
            assert end.card is not None and end.quad is not None
            card = scene.cards[end.card]
            assert (card.piece, card.group, card.role) == (end.piece, end.group, "meld")
            # The end lies within its card.
            assert card.quad is not None
            outline = np.array(card.quad, np.float32)
            middle = np.mean(end.quad, 0)
            assert cv2.pointPolygonTest(outline, (float(middle[0]), float(middle[1])), False) > 0
    with pytest.raises(SystemExit):
        make_scenes.main([str(tmp_path), "--deck", "four-color", "--layout", "grid"])
