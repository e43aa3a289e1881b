"""Notation of both decks."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion import DECKS, NotationError, Piece, format_pieces, parse_pieces


@settings(deadline=None)
@given(st.sampled_from(sorted(DECKS)).flatmap(lambda deck: st.lists(st.sampled_from(DECKS[deck].pieces))))
def test_printing_then_parsing_gives_the_pieces_sorted(pieces: list[Piece]) -> None:
    text = format_pieces(pieces)
    assert list(parse_pieces(text)) == sorted(pieces)
    assert format_pieces(parse_pieces(text)) == text


@settings(deadline=None)
@given(st.text(max_size=30) | st.text("0123456789mpszfKAEyrj ", max_size=30))
def test_any_other_text_is_an_error_that_points_into_it(text: str) -> None:
    try:
        pieces = parse_pieces(text)
    except NotationError as error:
        start = error.position - 1
        assert error.part
        assert text[start : start + len(error.part)] == error.part
    else:
        assert parse_pieces(format_pieces(pieces)) == tuple(sorted(pieces))


@pytest.mark.parametrize(
    ("text", "deck", "part", "position", "why"),
    [
        ("1x", None, "1x", 1, "no suit 'x'"),
        ("KAEx", None, "KAEx", 1, "no suit 'x'"),
        ("123m 8z", None, "8z", 6, "no 8z"),
        ("9f", None, "9f", 1, "no 9f"),
        ("0z", None, "0z", 1, "no 0z"),
        ("123m KAr", "mahjong", "KAr", 6, "not a piece of the mahjong deck"),
        ("123m KAr", None, "KAr", 6, "not a piece of the mahjong deck"),
        ("5m", "four-color", "5m", 1, "not a piece of the four-color deck"),
        ("123", None, "123", 1, "ranks without a suit"),
        ("12m m", None, "m", 5, "a suit without ranks"),
        ("12M", None, "12M", 1, "no suit 'M'"),
        ("\x00", None, "\x00", 1, "neither a rank nor a suit"),
        ("١m", None, "١", 1, "neither"),
    ],
)
def test_errors_name_part_position_and_reason(
    text: str, deck: str | None, part: str, position: int, why: str
) -> None:
    with pytest.raises(NotationError) as caught:
        parse_pieces(text, deck)
    error = caught.value
    assert (error.part, error.position) == (part, position)
    assert why in str(error)
    assert f"position {position}" in str(error)


def test_long_nonsense_is_refused_at_once_in_few_words() -> None:
    with pytest.raises(NotationError) as caught:
        parse_pieces("1" * 100_000)
    assert len(str(caught.value)) < 120


def test_canonical_order() -> None:
    assert format_pieces(parse_pieces("15f 7z 9s 1s 505m 1p")) == "055m 1p 19s 7z 15f"
    assert format_pieces(parse_pieces("1j Pg KKy AEr PCHREAKr")) == "KKy KAAEERHCPr Pg 1j"


def test_red_fives_play_as_fives_and_stay_apart() -> None:
    red = Piece.parse("0p")
    assert red.plays_as is Piece.parse("5p")
    assert red != red.plays_as
    assert DECKS["mahjong"].copies(red) == 4


def test_decks_hold_what_the_box_holds() -> None:
    def size(name: str) -> int:
        deck = DECKS[name]
        return sum(deck.copies(piece) for piece in deck.pieces if piece.rank != "0")

    assert size("mahjong") == 144
    assert size("four-color") == 117
    assert DECKS["four-color"].copies(Piece.parse("5m")) == 0


def test_a_piece_is_one_object_wherever_it_comes_from() -> None:
    piece = Piece.parse("Kr")
    assert copy.deepcopy(piece) is piece
    assert pickle.loads(pickle.dumps(piece)) is piece
    assert Piece.parse(" K r ") is piece
    with pytest.raises(NotationError, match="one piece expected, found 2"):
        Piece.parse("KKr")
