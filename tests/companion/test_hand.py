"""Hand documents: the round trip, and what each malformed part is answered with."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion import Hand, HandError, Meld, Winning, parse_pieces

PLAIN: dict[str, Any] = {"rules": "sichuan", "concealed": "123456m 3467899p"}
FULL: dict[str, Any] = {
    "rules": "sichuan",
    "concealed": "22456m 99p",
    "melds": [
        {"kind": "pung", "pieces": "333m", "concealed": False},
        {"kind": "kong", "pieces": "0555p", "concealed": True},
    ],
    "winning": {"piece": "2m", "from": "wall"},
    "bonus": "15f",
    "context": {"void": "s", "after_kong": True},
    "options": {"preset": "sbr", "cap": "none"},
}


def test_document_round_trip() -> None:
    hand = Hand.from_document(FULL)
    assert hand.to_document() == FULL
    assert Hand.from_document(PLAIN).to_document() == PLAIN
    assert pickle.loads(pickle.dumps(hand)) == hand == copy.deepcopy(hand)
    assert hash(hand) == hash(copy.copy(hand))


def test_order_of_writing_does_not_matter() -> None:
    assert Hand.from_document({**PLAIN, "concealed": "99876p43p 654321m"}) == Hand.from_document(PLAIN)


@pytest.mark.parametrize(
    ("change", "where", "message"),
    [
        ({"rules": None}, "rules", "not null"),
        ({"rules": "riichi"}, "rules", "known: sichuan"),
        ({"concealed": 5}, "concealed", "text expected, not 5"),
        ({"concealed": "12x"}, "concealed, position 1", "no suit 'x'"),
        ({"concealed": "1m KKr"}, "concealed, position 4", "not a piece of the mahjong deck"),
        ({"hand": "1m"}, "", "unknown key 'hand'; known: rules, concealed"),
        ({"melds": {}}, "melds", "a list expected, not an object"),
        ({"melds": ["pung"]}, "melds[0]", "an object expected, not 'pung'"),
        ({"melds": [{"kind": "pung"}]}, "melds[0]", "pieces is missing"),
        ({"melds": [{"kind": "run", "pieces": "123m"}]}, "melds[0].kind", "known: single, pair, chow"),
        (
            {"melds": [{"kind": "chow", "pieces": "123m"}]},
            "melds[0].kind",
            "lays down no chow; known: pung, kong",
        ),
        ({"melds": [{"kind": "pung", "pieces": "123m"}]}, "melds[0].pieces", "123m is no pung"),
        ({"melds": [{"kind": "kong", "pieces": "111m"}]}, "melds[0].pieces", "111m is no kong"),
        ({"melds": [{"kind": "pung", "pieces": ""}]}, "melds[0].pieces", "nothing is no pung"),
        ({"melds": [{"kind": "pung", "pieces": "11x"}]}, "melds[0].pieces, position 1", "no suit"),
        (
            {"melds": [{"kind": "pung", "pieces": "111m", "concealed": 1}]},
            "melds[0].concealed",
            "true or false expected, not 1",
        ),
        ({"winning": "2m"}, "winning", "an object expected"),
        ({"winning": {"piece": "2m"}}, "winning", "from is missing"),
        ({"winning": {"piece": "22m", "from": "wall"}}, "winning.piece", "one piece expected, found 2"),
        ({"winning": {"piece": "2m", "from": "table"}}, "winning.from", "known: wall, discard"),
        ({"bonus": "5m"}, "bonus", "5m is no flower"),
        ({"context": []}, "context", "an object expected, not a list"),
        ({"context": {"viod": "s"}}, "context", "unknown name 'viod'; known: void, after_kong"),
        ({"context": {"void": "z"}}, "context.void", "known: null, 'm', 'p', 's'"),
        ({"context": {"last_tile": 1}}, "context.last_tile", "unknown value 1; known: false, true"),
        ({"context": {"active_payers": True}}, "context.active_payers", "unknown value true; known: 1, 2, 3"),
        ({"options": {"preset": "xian"}}, "options.preset", "known: 'mahjongo', 'sbr', 'chengdu'"),
        ({"options": {"cap": "3"}}, "options.cap", "unknown value '3'; known: 3, 4, 'none'"),
        ({"options": {"copies": 5}}, "options", "unknown name 'copies'"),
    ],
)
def test_what_is_wrong_and_where(change: dict[str, Any], where: str, message: str) -> None:
    with pytest.raises(HandError) as caught:
        Hand.from_document({**PLAIN, **change})
    assert caught.value.where == where
    assert message in caught.value.message


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None)
@given(st.sampled_from([*FULL, "melds[]", "winning."]), st.sampled_from(["kind", "pieces", "from"]), ANYTHING)
def test_no_value_anywhere_causes_anything_but_a_hand_error(key: str, inner: str, value: Any) -> None:
    change = {"melds[]": {"melds": [{"kind": "pung", "pieces": "111m", inner: value}]}}.get(
        key, {"winning": {"piece": "1m", "from": "wall", inner: value}} if key == "winning." else {key: value}
    )
    for document in ({**PLAIN, **change}, value):
        try:
            Hand.from_document(document)
        except HandError as error:
            assert error.message


def test_melds_of_the_card_deck() -> None:
    assert str(Meld("chow", parse_pieces("EAKr"))) == "chow KAEr"
    assert Meld("soldiers", parse_pieces("PyPrPg")).pieces == parse_pieces("PyPrPg")
    for kind, text in (("chow", "KAr Eg"), ("chow", "ERHr"), ("soldiers", "PyPyPg"), ("soldiers", "Py Pr")):
        with pytest.raises(HandError, match=f"is no {kind}"):
            Meld(kind, parse_pieces(text))


def test_made_in_code_a_hand_is_checked_as_well() -> None:
    with pytest.raises(HandError, match="Kr is not a piece of the mahjong deck") as caught:
        Hand("sichuan", parse_pieces("1m"), winning=Winning(parse_pieces("Kr")[0], "wall"))
    assert caught.value.where == "winning.piece"
