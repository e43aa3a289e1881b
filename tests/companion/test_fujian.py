"""What worked hands do not show of `fujian`: locks, the winning card, the checksum, misdeals, payments."""

from __future__ import annotations

from typing import Any

import pytest

from companion import Hand, HandError, analyse, analysis
from companion.cli import main
from companion.rules.fujian import FUJIAN, POINTS
from companion.rules.rounds import Event, Kong, WallEnd, Win, net


def hand(concealed: str, *melds: str, win: str = "", source: str = "discard", **more: Any) -> Hand:
    """A hand; each meld as ``pung EEEg`` or ``own pung EEEg``; `options` and context by name."""
    document: dict[str, Any] = {"rules": "fujian", "concealed": concealed, "melds": []}
    for meld in melds:
        kind, pieces = meld.removeprefix("own ").split()
        document["melds"].append({"kind": kind, "pieces": pieces, "concealed": meld.startswith("own ")})
    document["options"] = more.pop("options", {})
    if win:
        document["winning"] = {"piece": win, "from": source}
    return Hand.from_document({**document, "context": more})


def items(hand: Hand) -> dict[str, tuple[int, int]]:
    score = analysis.score(hand)
    assert score is not None
    assert sum(item.value for item in score.items) == score.total
    return {item.name: (item.count, item.value) for item in score.items}


def test_every_item_is_worth_what_the_table_says() -> None:
    many = hand("12j KAEr PyPrPw AAAw HHw", "soldiers PyPrPwPg", "own pung HHHg", win="Ky")
    assert items(many) == {
        "general": (1, 1), "joker": (2, 6), "chow": (1, 1), "three-soldiers": (1, 1), "four-soldiers": (1, 2),
        "pung-dealt": (2, 6),
    }  # fmt: skip


def test_declared_melds_count_as_they_were_made() -> None:
    down = hand("Ky", "kong RRRRr", "own kong HHHHr", "kong KKKKg", "pung CCCr", "own pung AAAw", "pair KKr")
    # 4 + 4 + 4 + 3 + 3 + 2 and one in hand
    assert items(down) == {
        "general": (3, 3), "pung-claimed": (1, 1), "pung-dealt": (1, 3), "kong-claimed": (1, 6),
        "kong-dealt": (1, 8), "kong-generals": (1, 8),
    }  # fmt: skip


def test_dealt_triplets_stay_together() -> None:
    rest = "EEEEy AAAAw HHHHg CCCg"
    locked = analyse(hand(f"RRRHCr {rest} Ky"))
    assert locked.status == "ready"
    assert "Complete if it was won with Rr" in " ".join(locked.notes)
    assert not {str(each.discard) for each in locked.advice} & {"Rr", "Ey", "Aw", "Hg", "Cg"}
    won = analyse(hand(f"RRRHCr {rest}", win="Rr"))
    assert [str(meld) for meld in won.arrangement if meld.pieces[0].suit == "r"] == ["pung RRRr", "chow RHCr"]
    free = analyse(hand(f"RRRHCr {rest} Ky", options={"lock_dealt": False}))
    assert free.status == "won"
    drawn = analyse(hand(f"RRHCr {rest} Ky", win="Rr"))
    assert drawn.status == "won"  # a pair, and a chow with the winning card


def test_five_dealt_alike_are_a_kong_and_a_free_card() -> None:
    options = {"copies": 5}
    assert items(hand("KKKKKr RRRRr HHHHr CCCCg AAAw", win="Ky", options=options)) == {
        "general": (2, 2), "kong-generals": (1, 8), "kong-dealt": (3, 24), "pung-dealt": (1, 3),
    }  # fmt: skip
    five = hand("RRRRRr HHHHr CCCCg AAAAw EEy Kr", win="Kr", options=options)
    assert analyse(five).status == "ready"
    assert "Rr" in [str(each.discard) for each in analyse(five).advice]
    free = {**options, "lock_dealt": False}
    assert items(hand("RRRRRr HHHHr CCCCg AAAAw EEy Kr", win="Kr", options=free))["pung-dealt"] == (1, 3)
    assert analyse(hand("RRRRRr HHHHr CCCCg AAAAw EEy Kr", win="Kr")).status == "invalid"


def test_the_winning_card_opens_its_meld() -> None:
    def shown(source: str) -> dict[str, bool]:
        result = analyse(hand("RRRRr HHHHr CCCCg AAAw EEy HHy Kr", win="Ey", source=source))
        return {str(meld): meld.concealed for meld in result.arrangement}

    assert shown("wall") == shown("discard")
    assert shown("wall")["pung EEEy"] is False
    assert shown("wall")["pung AAAw"] is True


def test_the_checksum_warns_of_a_card_missed_or_read_twice() -> None:
    def notes(text: str, **more: Any) -> str:
        return " ".join(analyse(hand(text, **more)).notes)

    twenty = "RRRRr HHHHr CCCCg AAAAw EEy PPr"
    assert "All 20 cards stand in melds and count 32: a complete hand of 21 counts odd" in notes(twenty)
    assert "a card was missed" in notes(twenty)
    assert "All 22 cards" in notes(twenty + " Kr Ky")
    assert "read twice" in notes(twenty + " Kr Ky")
    assert "All 21" not in notes(twenty + " Kr")
    assert "stand in melds" not in notes("RRRRr HHHHr CCCCg AAAAw EEy Pr Hg")
    assert "counts even, never odd" in notes(twenty + " Kr Kw 12j Ky", options={"hand_size": 26})
    assert "stand in melds" not in notes("")
    # Two cards: the parity is right, the number is not. Fewer is a hand still being typed.
    assert "All 23 cards stand in melds: a complete hand has 21. If this is one, 2 cards" in notes(
        twenty + " Kr Ky Kg"
    )
    assert "stand in melds" not in notes("RRRRr HHHHr CCCCg AAAAw PPr")

    def miscounted(text: str) -> Any:
        return analyse(hand(text)).to_document().get("miscounted")

    found = [miscounted(twenty + more) for more in ("", " Kr", " Kr Ky", " Kr Ky Kg", " Kr Ky Hg")]
    assert found == [-1, None, 1, 2, None]


def test_a_hand_without_its_winning_piece_named() -> None:
    result = analyse(hand("RRRRr HHHHr CCCCg AAAw EEEy KKr Ky"))
    assert result.status == "won"
    assert result.score is not None
    assert result.score.total == 33
    assert "The hand counts 31 when it was won with Ey, Rr, Hr, Aw or Cg." in " ".join(result.notes)


@pytest.mark.parametrize(
    ("concealed", "void"),
    [
        ("AAEErr RRHHCCrr", None),
        ("AAEEr RRHHCCy PyPrPw AAEEw RRHg", True),
        ("AAEEr RRHHCCy PyPrPwPg AAEEw RRg", False),
        ("AAEEr RRHHCCy PyPrPw AAAEw RRHg", False),
        ("AAEEr RRHHCCy PyPrPw AAEEw RRKg", False),
        ("AAEEr RRHHCCy PyPrPw AAEEw RR1g 1j", None),
        ("AAEEr RRHHCCy PyPrPw AAEEw RRg 1j", True),
    ],
)
def test_misdeals(concealed: str, void: bool | None) -> None:
    if void is None:
        with pytest.raises(HandError):
            hand(concealed, dealt=True)
        return
    document = analyse(hand(concealed, dealt=True)).to_document()
    assert document["misdeal"] is void
    assert ("Misdeal" in " ".join(document["notes"])) is void
    assert "misdeal" not in analyse(hand(concealed)).to_document()


def test_a_dealt_hand_has_claimed_nothing() -> None:
    with pytest.raises(HandError) as caught:
        hand("Ky", "pung AAAr", dealt=True)
    assert caught.value.where == "context.dealt"
    assert analyse(hand("Ey" * 16, "own kong AAAAr", dealt=True)).extra == {"misdeal": False}


def test_jokers_may_be_out_of_the_game() -> None:
    text = "RRRRr HHHHr CCCCg AAAAw Ey Kr Kw 1j"
    assert analyse(hand(text, win="Ey")).status == "won"
    without = analyse(hand(text, win="Ey", jokers=False))
    assert (without.status, without.shanten) == ("invalid", None)
    assert "1j cannot be in the hand" in without.notes[0]
    ready = hand("RRRRr HHHHr CCCCg AAAAw EEy PPr", jokers=False)
    assert not [wait for wait in analysis.waits(ready) if wait.piece.suit == "j"]
    assert "2 times 1j: there is only one." in analyse(hand("11j")).notes


def test_invalid_hands_still_show_their_melds() -> None:
    result = analyse(hand("RRRRRr KAEy 11j"))
    assert (result.status, result.shanten, result.waits, result.advice) == ("invalid", None, (), ())
    assert "5 times Rr: there are only 4." in result.notes
    assert [str(meld) for meld in result.arrangement] == [
        "chow KAEy", "kong RRRRr", "single 1j", "loose Rr", "loose 1j",
    ]  # fmt: skip
    assert [str(meld) for meld in result.legal_melds] == [
        "single Ky", "single 1j", "pair RRr", "chow KAEy", "pung RRRr", "kong RRRRr",
    ]  # fmt: skip
    over = analyse(hand("RRr", "pung RRRr"))
    assert over.status == "invalid"
    assert "5 times Rr: there are only 4." in over.notes


def test_legal_melds_ignore_the_lock() -> None:
    melds = {str(meld) for meld in analysis.legal_melds(hand("RRRHCr PyPyPrPwPg"))}
    assert {"chow RHCr", "pung RRRr", "pair RRr", "soldiers Py Pr Pw Pg", "soldiers Py Pr Pw"} <= melds


def test_arrangements_are_all_there_are_best_first() -> None:
    ways = analysis.arrangements(hand("KKr RHCg PyPrPwPg AAAw EEEg RRy HHw Cr", win="Cr"))
    assert ways[0] == analyse(hand("KKr RHCg PyPrPwPg AAAw EEEg RRy HHw Cr", win="Cr")).arrangement
    assert len(ways) == 2  # the generals as two singles, or as a pair


@pytest.mark.parametrize("meld", ["single Ar", "single Pg"])
def test_only_generals_and_jokers_stand_alone(meld: str) -> None:
    with pytest.raises(HandError) as caught:
        hand("Ky", meld)
    assert caught.value.where == "melds[0].pieces"
    assert analyse(hand("Ky", "single Kr", "single 1j")).status == "invalid"  # too few cards, no error


def test_described_for_forms() -> None:
    described = FUJIAN.describe()
    for part in ("options", "context"):
        for setting in described[part]:
            assert setting["label"] and setting["help"]
            assert setting["default"] in [choice["value"] for choice in setting["choices"]]
    assert list(described["items"]) == [each.name for each in POINTS]
    assert [FUJIAN.copies(piece, {"copies": 5}) for piece in FUJIAN.pieces[::32]] == [5, 1]
    assert len(described["readings"]) == 9


def test_a_typed_hand_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["score", "--rules", "fujian", "RRRRr HHHHr CCCCg AAAw EEy Ky Kr 1j", "--win", "Ey"]
    assert main([*words, "--option", "hand_size=26"]) == 0
    assert capsys.readouterr().out.startswith("Invalid")
    assert main([*words[:3], "RRRRr HHHHr CCCCg AAAw EEy KKy Kr", "--win", "Ey", "--meld", "single 1j"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Invalid")  # 22 cards
    assert "read twice" in out
    assert main([*words[:3], "RRRRr HHHHr CCCCg AAAw EEy Ky Kr", "--win", "Ey", "--meld", "single 1j"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Won: 33 points\n")
    for text in ("Joker (joker)", "lock_dealt True", "A joker counts 3"):
        assert text in out
    assert main([*words[:3], "RRRRr HHHHr CCCCg AAAAw EEy PPr"]) == 0
    assert "waits for 1j (duke joker): 35 points, 1 piece left" in capsys.readouterr().out


# Payments

WON = hand("RRRRr HHHHr CCCCg AAAw EEy HHy Kr", win="Ey")  # 29
DRAWN = hand("RRRRr HHHHr CCCCg AAAw EEy HHy Kr", win="Ey", source="wall")


def paid(*events: Event, players: int = 4, **options: Any) -> list[int]:
    gains = net(FUJIAN.payments(events, options, players), players)
    assert sum(gains) == 0
    return gains


def test_every_loser_pays_the_score() -> None:
    assert paid(Win({1: WON}, payer=3)) == [-29, 87, -29, -29]
    assert paid(Win({1: DRAWN})) == [-29, 87, -29, -29]
    assert paid(Win({1: WON}, payer=0), players=2) == [-29, 29]


def test_the_owner_of_the_card_may_pay_for_all() -> None:
    assert paid(Win({1: WON}, payer=3), discarder_pays_all=True) == [0, 87, 0, -87]
    assert paid(Win({1: DRAWN}), discarder_pays_all=True) == [-29, 87, -29, -29]
    assert paid(Win({1: WON}, payer=2), players=3, discarder_pays_all=True) == [0, 58, -58]


def test_of_several_winners_the_next_in_turn() -> None:
    assert paid(Win({1: WON, 3: WON}, payer=2)) == [-29, -29, -29, 87]


def test_nothing_else_is_paid_for() -> None:
    assert paid(Kong(0, "concealed"), WallEnd({})) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([Win({1: WON}, payer=0), Win({2: WON}, payer=0)], "the round is over"),
        ([Win({1: WON})], "a winning piece from the wall"),
        ([Win({1: DRAWN}, payer=0)], "a winning piece from the discard"),
        ([Win({1: WON}, payer=1)], "cannot pay itself"),
        ([Win({4: WON}, payer=1)], "seat 4 is not in the game"),
        ([Win({1: hand("Ky", win="Kr")}, payer=0)], "the hand is not won"),
        ([Win({1: DRAWN, 2: DRAWN})], "a self-draw has one winner"),
        ([Win({}, payer=0)], "a win has a winner"),
    ],
)
def test_rounds_that_cannot_be(events: list[Event], message: str) -> None:
    with pytest.raises(HandError, match=message):
        FUJIAN.payments(events, {})
