"""What training asks of the networks is right: a perfect answer costs nothing, however a photo is turned."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training is not installed (extra `train`)")

from datasets.scenes import Label, Scene  # noqa: E402
from models.training.export import export  # noqa: E402
from models.training.labelled import Photo, Tile, _refused  # noqa: E402
from models.training.locator import STRIDE, cut, encode, loss_of  # noqa: E402
from models.training.nets import Locator, Reader, Residual  # noqa: E402
from models.training.reader import LABELS, PAPERS, PATCH, redraw  # noqa: E402
from models.training.revive import revive  # noqa: E402
from vision.classify import CROP, QUAD, TARGET  # noqa: E402
from vision.model import open_model  # noqa: E402


def photo(turned_tiles: bool) -> tuple[Photo, np.ndarray]:
    """A photo of a row of tiles, square-on, whose quads are known."""
    tiles = []
    for k in range(8):
        x, y, w, h = 60.0 + 45 * k, 100.0, 42.0, 56.0
        quad = np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]], np.float32)
        tiles.append(Tile("3p", (x, y, w, h), quad if turned_tiles else None))
    return Photo(Path("none"), "home-row", True, tuple(tiles)), np.full((300, 500, 3), 90, np.uint8)


@pytest.mark.parametrize("seed", range(12))
def test_a_perfect_locator_has_no_loss_of_place_shape_or_box(seed: int) -> None:
    known, image = photo(turned_tiles=True)
    boxed = replace(known, tiles=tuple(replace(tile, quad=None) for tile in known.tiles))
    of_quads = encode(*cut(known, image, np.random.default_rng(seed)), np.random.default_rng(1))
    of_boxes = encode(*cut(boxed, image, np.random.default_rng(seed)), np.random.default_rng(1))
    _, heat, _, regress = of_quads
    answer = torch.zeros(1, 9, *heat.shape[1:])
    answer[0, :2] = heat.clamp(1e-4, 1 - 1e-4).logit()
    answer[0, 2:4], answer[0, 4:9] = regress[3:5], regress[5:10]
    for _, heat, weight, wanted in (of_quads, of_boxes):
        _, parts = loss_of(answer, heat[None], weight[None], wanted[None])
        assert max(parts["offset"], parts["shapes"], parts["box"]) < 1e-3, parts
    # A photo turned by something else than what was said does cost.
    if wanted[2].sum() > 0:
        wrong = wanted.clone()
        angle = float(torch.atan2(wanted[13, 0, 0], wanted[12, 0, 0])) + 0.5
        wrong[12], wrong[13] = float(np.cos(angle)), float(np.sin(angle))
        assert loss_of(answer, heat[None], weight[None], wrong[None])[1]["box"] > 0.02


def test_cells_are_four_pixels() -> None:
    known, image = photo(turned_tiles=True)
    view, targets, labelled, _ = cut(known, image, np.random.default_rng(3))
    assert view.shape[0] == labelled.shape[0] * STRIDE and len(targets) == len(known.tiles)


@pytest.mark.parametrize("seed", range(8))
def test_turn_and_residuals_of_a_drawn_crop_lead_back_to_the_piece(seed: int) -> None:
    """The piece's own top-left corner is marked red: it must lie where turn and residuals say."""
    patch = np.full((PATCH, PATCH, 3), 200, np.uint8)
    low = (PATCH - QUAD) // 2
    patch[low : low + 9, low : low + 9] = (0, 0, 255)
    rng = np.random.default_rng(seed)
    crop, residual, turn = redraw(patch, rng)
    corners = TARGET + residual.reshape(4, 2) * CROP
    own = np.roll(corners, -turn, axis=0)
    inward = own[0] + (own.mean(0) - own[0]) * 0.12
    x, y = np.round(inward).astype(int)
    blue, _, red = crop[:, y, x].astype(int)
    assert red > blue + 25


def label(piece: str, x: float, y: float, w: float, h: float, card: int | None = None) -> Label:
    quad = ((x, y), (x + w, y), (x + w, y + h), (x, y + h))
    return Label(piece, (x, y, w, h), quad, "hand" if card is not None else "other", card=card)


def test_words_all_along_title_cards_are_refused_and_no_end_is() -> None:
    cards = (label("Kr", 100, 50, 40, 200), label("title", 160, 50, 40, 200))
    ends = (label("Kr", 100, 60, 40, 50, 0), label("Kr", 100, 190, 40, 50, 0))
    scene = Scene("a.jpg", Path("a.jpg"), "a", 400, 300, ends, cards=cards)
    places = _refused(scene)
    assert np.array_equal(np.array(places), np.array(_refused(scene)))
    middles = np.array([place.mean(0) for place in places])
    on_title = middles[(middles[:, 0] > 145) & (middles[:, 0] < 225)]
    assert len(on_title) == 6 and on_title[:, 1].min() > 50 and on_title[:, 1].max() < 250
    assert len({round(float(y)) for y in on_title[:, 1]}) == 6
    # What is between the ends of the card, mostly in its middle; the ends themselves only in small parts.
    others = [_refused(replace(scene, file=f"{number}.jpg")) for number in range(30)]
    amid = [y for some in others for x, y in (place.mean(0) for place in some) if x < 135 and 115 < y < 185]
    assert 15 < len(amid) <= 30 and np.abs(np.array(amid) - 150).mean() < 12
    for end in ends:
        assert end.quad is not None
        for place in places:
            if np.hypot(*(place.mean(0) - np.mean(end.quad, 0))) < 40:
                assert np.ptp(place[:, 1]) < 0.6 * 50


def test_a_residual_block_changes_nothing_before_it_learns() -> None:
    features = torch.rand(2, 8, 5, 5)
    assert torch.equal(Residual(8).eval()(features), features)


def test_an_exported_reader_answers_as_the_trained_one_from_half_the_bytes(tmp_path: Path) -> None:
    torch.manual_seed(1)
    net = Reader(len(LABELS["mahjong"])).eval()
    torch.save(net.state_dict(), tmp_path / "reader.pt")
    path = export("reader", tmp_path / "reader.pt", tmp_path, {})
    assert path.stat().st_size < 2.2 * sum(p.numel() for p in net.parameters())
    crops = np.random.default_rng(1).integers(0, 256, (3, CROP, CROP, 3), np.uint8)
    with torch.no_grad():
        wanted = net(torch.from_numpy(crops).permute(0, 3, 1, 2).float() / 255)
    for said, true in zip(open_model("mahjong-reader", tmp_path).run(crops), wanted, strict=True):
        np.testing.assert_allclose(said, true.numpy(), atol=2e-3 * float(true.abs().max()))


@pytest.mark.parametrize("kind", ["locator", "reader"])
def test_a_shipped_network_can_be_trained_on_from_where_it_is(kind: str) -> None:
    papers = len(PAPERS["four-color"])
    net = Locator() if kind == "locator" else Reader(len(LABELS["four-color"]), papers)
    shipped = Path(__file__).parents[2] / "models" / f"four-color-{kind}.onnx"
    side = 96 if kind == "locator" else CROP
    pixels = np.random.default_rng(1).integers(0, 256, (16, side, side, 3), np.uint8)
    pictures = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
    revive(net, shipped, pictures)
    with torch.no_grad():
        said = net.eval()(pictures)
        wanted = open_model(f"four-color-{kind}").run(pixels)
        for one, true in zip([said] if kind == "locator" else said, wanted, strict=True):
            np.testing.assert_allclose(one.numpy(), true, atol=1e-3 * float(np.abs(true).max()))
        # Batch norms meet what they know: by itself, a batch looks much as all pictures do.
        seen = net.train()(pictures)
    told = said[0] if kind == "reader" else said
    if kind == "locator":
        assert float((seen - told).abs().mean()) < 0.05 * float(told.abs().mean())
    other = Reader(len(LABELS["four-color"]), papers) if kind == "locator" else Locator()
    with pytest.raises(ValueError):
        revive(other, shipped, pictures[..., :CROP, :CROP])
