"""What worked hands do not show of `guangshui`: every combination of its levels, options, flags, payments."""

from __future__ import annotations

from typing import Any

import pytest

from companion import Hand, HandError, analyse, analysis, parse_pieces
from companion.cli import main
from companion.rules.guangshui import COMBINATIONS, CONTEXT, GUANGSHUI
from companion.rules.rounds import Event, Kong, WallEnd, Win, net
from tests.companion.brute_cards import cards_of

SPARE = [rank + colour for rank in "AEHCPR" for colour in "yrwg"]


def hand(melds: str, concealed: str = "", win: str = "", source: str = "discard", **more: Any) -> Hand:
    """A hand of melds (``own`` before those made of own cards alone), filled up to 31 cards with claimed
    pairs of other kinds, which are worth nothing; the last pair is won if no card is."""
    document: dict[str, Any] = {"rules": "guangshui", "melds": []}
    held = [str(piece) for piece in parse_pieces(concealed)]
    count = len(held) + bool(win)
    for meld in filter(None, melds.split(", ")):
        kind, pieces = meld.removeprefix("own ").split()
        cards = [rank + pieces[-1] for rank in pieces[:-1]] if kind != "soldiers" else cards_of(pieces)
        own = meld.startswith("own ")
        document["melds"].append({"kind": kind, "pieces": "".join(cards), "concealed": own})
        count += len(cards)
    used = {win, *held, *(card for meld in document["melds"] for card in cards_of(meld["pieces"]))}
    spare = [card for card in SPARE if card not in used]
    assert (31 - count) % 2 == 0, "pairs cannot fill it up"
    for _ in range((31 - count) // 2 - (not win)):
        card = spare.pop(0)
        document["melds"].append({"kind": "pair", "pieces": card + card})
        spare.append(card)
    document["concealed"] = concealed
    if not win:
        document["concealed"] += spare[0]
    document["winning"] = {"piece": win or spare[0], "from": source}
    document["options"] = more.pop("options", {})
    return Hand.from_document({**document, "context": more})


def answer(melds: str, concealed: str = "", win: str = "", **more: Any) -> tuple[str, int]:
    """Level and hu of such a hand."""
    score = analysis.score(hand(melds, concealed, win, **more))
    assert score is not None
    assert sum(item.value for item in score.items) == score.total
    return str(score.extra["level"]), score.total


FIVE_KONGS = "own kong AAAAy, own kong AAAAr, own kong HHHHy, own kong HHHHr, own kong EEEEw"
STEPS = "pung AAAr, pung EEEw, pung CCCg, pung AAAy"
HEAVEN = "pung KKKr, pung PPPr"
WAGON_OUT = "pung HHHy, own pair RRy, own pair CCy"
WAGON_IN = "own pair HHy, own pair RRy, own pair CCy"
FAT_IN = "own pair PPy, own pair PPr, own pair PPw"
LONG_IN = f"{FAT_IN}, own pair PPg"
LONG_OUT = "own pung PPPy, own pung PPPr, own pung PPPw, own pung PPPg"
LONG_CLAIMED = "pung PPPy, pung PPPr, pung PPPw, pung PPPg"
LONG_ONE = "own kong PPPPy, own pair PPr, own pair PPw, own pair PPg"
TWO_LONG = (
    "own kong KKKKy, own kong KKKKr, own kong KKKKw, own pung KKKg, own pung PPPy, own pung PPPr, "
    "own pung PPPw, own pair PPg"
)
SOLDIERS = "soldiers PyPrPwPg"
THREE_LOU = "kong HHHHg, kong CCCCr, kong EEEEw"

# A part of a combination, what reaches it (level and hu), and hands that miss it by one thing.
TABLE: list[tuple[dict[str, int], str, str, int, list[tuple[str, str, int]]]] = [
    ({"hu": 48}, f"{FIVE_KONGS}, single Ky, single Kr, single Kw", "pai", 48,
     [(f"{FIVE_KONGS}, {SOLDIERS}, single Ky", "none", 47)]),
    ({"lou": 1, "hu": 23},
     f"kong HHHHg, own kong AAAAr, own pung EEEy, own pung CCCw, {SOLDIERS}, single Ky", "pai", 23,
     [("kong HHHHg, own kong AAAAr, own pung EEEy, own pung CCCw, single Ky", "none", 22)]),
    ({"lou": 2}, "kong HHHHg, kong CCCCr, single Ky", "pai", 13, [("kong HHHHg, single Ky", "none", 7)]),
    ({"plain_wagon": 0, "fat_lou": 1}, f"{WAGON_IN}, kong PPPPr, single Ky", "pai", 23,
     [("own pair HHy, own pair RRy, pair CCy, kong PPPPr, single Ky", "none", 13),
      (f"{WAGON_IN}, kong AAAAr, single Ky", "none", 17)]),
    ({"fat_wagon": 0, "lou": 1}, f"{FAT_IN}, kong AAAAr, single Ky", "pai", 27,
     [("own pair PPy, own pair PPr, pair PPw, kong AAAAr, single Ky", "none", 7),
      (f"{FAT_IN}, own kong AAAAr, single Ky", "none", 30)]),
    ({"wagon_out": 1, "steps": 5}, f"{STEPS}, {WAGON_OUT}", "pai", 45,
     [(f"pung AAAr, pung EEEw, pung CCCg, {WAGON_OUT}, single Ky", "none", 25),
      (f"{STEPS}, pung EEEg, {WAGON_IN}", "none", 35)]),
    ({"fat_wagon": 2}, "pung PPPy, pung PPPr, own pair PPw, single Ky", "pai", 65,
     [("pung PPPy, own pair PPr, own pair PPw", "none", 42)]),
    ({"long_wagon": 1}, "pung PPPy, own pair PPr, own pair PPw, own pair PPg", "pai", 82,
     [(f"{LONG_IN}, single Ky", "none", 41)]),
    ({"clear": 3, "steps": 5}, "pung EEEy, pung EEEr, pung EEEw, pung AAAg, pung HHHr", "pai", 45,
     [("pung EEEy, pung EEEr, pung CCCw, pung AAAg, pung HHHr", "none", 25),
      ("pung EEEy, pung EEEr, pung EEEw, pung AAAg, single Ky", "none", 25)]),
    ({"heaven_earth": 1, "steps": 5}, f"{HEAVEN}, pung EEEw, pung AAAy, pung HHHw", "pai", 47,
     [("pung KKKr, pung PPPy, pung EEEw, pung AAAy, pung HHHw", "none", 27),
      (f"{HEAVEN}, pung EEEw, pung AAAy, single Ky", "none", 27)]),
    ({"clear": 3, "heaven_earth": 1}, f"{HEAVEN}, pung EEEy, pung EEEw, own pung EEEg", "pai", 49,
     [("pung KKKr, pung PPPy, pung EEEy, pung EEEw, own pung EEEg", "none", 29),
      (f"{HEAVEN}, pung EEEy, pung EEEw, own pung AAAg", "none", 29)]),
    ({"clear": 3, "wagon_out": 1}, f"{WAGON_OUT}, pung HHHr, pung HHHw", "pai", 43,
     [("pung HHHy, pung HHHr, pung HHHw", "none", 23), (f"{WAGON_OUT}, pung HHHr, single Ky", "none", 23)]),
    ({"wagon_out": 1, "heaven_earth": 1}, f"{HEAVEN}, {WAGON_OUT}", "pai", 45,
     [(f"{HEAVEN}, {WAGON_IN}, single Ky", "none", 35),
      (f"pung KKKr, pung PPPw, {WAGON_OUT}", "none", 25)]),
    ({"plain_wagon": 3}, "pung HHHy, pung RRRy, pung CCCy", "pai", 44,
     [("pung HHHy, pung RRRy, own pair CCy, single Ky", "none", 34)]),
    ({"clear": 4}, "pung EEEy, pung EEEr, pung EEEw, pung EEEg, single Ky", "pai", 45,
     [("pung EEEy, pung EEEr, pung EEEw", "none", 23)]),
    ({"steps": 6}, f"{STEPS}, pung EEEg, pung HHHw, single Ky", "pai", 47,
     [(f"{STEPS}, pung EEEg", "none", 25)]),
    ({"hu": 250}, "own kong PPPPy, own kong PPPPr, own pung PPPw, own pung PPPg, pung RRRr", "xiao-jia", 250,
     [("own kong PPPPy, own kong PPPPr, own pung PPPw, own pung PPPg, single Ky", "pai", 249)]),
    ({"lou": 1, "hu": 123}, f"{LONG_ONE}, kong HHHHg, own kong AAAAr, own kong EEEEw, single Ky", "xiao-jia",
     123, [(f"{LONG_ONE}, kong HHHHg, own kong AAAAr, own pung EEEw, own pung CCCw, own pung HHHr", "pai",
            122)]),
    ({"lou": 2, "hu": 61},
     f"kong HHHHg, kong CCCCr, own kong RRRRy, own kong RRRRw, own kong AAAAy, own pung EEEr, {SOLDIERS}",
     "xiao-jia", 61,
     [("kong HHHHg, kong CCCCr, own kong RRRRy, own kong RRRRw, own kong AAAAy, own pung EEEr", "pai", 60)]),
    ({"lou": 3, "hu": 31}, f"kong HHHHg, kong CCCCr, kong EEEEw, own kong AAAAy, own pung HHHr, {SOLDIERS}",
     "xiao-jia", 31, [("kong HHHHg, kong CCCCr, kong EEEEw, own kong AAAAy, own pung HHHr", "pai", 30)]),
    ({"plain_wagon": 3, "lou": 2}, "kong HHHHy, kong CCCCy, pung RRRy", "xiao-jia", 54,
     [("kong HHHHy, pung CCCy, pung RRRy, single Ky", "pai", 50),
      ("kong HHHHy, kong CCCCy, own pair RRy, single Ky", "pai", 43)]),
    ({"fat_wagon": 1, "lou": 2}, "pung PPPy, own pair PPr, own pair PPw, kong AAAAr, kong HHHHg", "xiao-jia",
     54, [(f"{FAT_IN}, kong AAAAr, kong HHHHg, single Ky", "pai", 33)]),
    ({"long_wagon": 2, "lou": 1}, "pung PPPy, pung PPPr, own pair PPw, own pair PPg, kong AAAAr, single Ky",
     "xiao-jia", 131,
     [("pung PPPy, own pair PPr, own pair PPw, own pair PPg, kong AAAAr", "pai", 88),
      ("pung PPPy, pung PPPr, own pair PPw, own pair PPg, own kong AAAAr, single Ky", "pai", 134)]),
    ({"steps": 6, "long_wagon": 4}, f"{LONG_CLAIMED}, pung HHHr, pung AAAy, single Ky", "xiao-jia", 251,
     [(f"{LONG_CLAIMED}, pung HHHr", "pai", 229),
      ("pung PPPy, pung PPPr, pung PPPw, own pair PPg, pung HHHr, pung AAAy, pung EEEw, single Ky", "pai",
       210)]),
    ({"hu": 500}, f"{TWO_LONG}, pung RRRr", "da-jia", 500, [(f"{TWO_LONG}, pung AAAr", "xiao-jia", 499)]),
    ({"lou": 1, "hu": 250}, f"{LONG_OUT}, kong HHHHg, own kong AAAAr, own kong EEEEw, pung RRRr", "da-jia",
     250, [(f"{LONG_OUT}, kong HHHHg, own kong AAAAr, own kong EEEEw, single Ky", "xiao-jia", 249)]),
    ({"lou": 2, "hu": 123},
     f"{LONG_ONE}, kong HHHHg, kong CCCCr, own kong AAAAr, pung RRRy, single Ky, single Kw", "da-jia", 123,
     [(f"{LONG_ONE}, kong HHHHg, kong CCCCr, own kong AAAAr, own pung EEEy", "xiao-jia", 122)]),
    ({"lou": 3, "hu": 61},
     f"{THREE_LOU}, own kong RRRRy, own kong RRRRw, own pung AAAr, own pung HHHr, single Ky", "da-jia", 61,
     [(f"{THREE_LOU}, own kong RRRRy, own kong RRRRw, own pung KKKg", "xiao-jia", 60)]),
]  # fmt: skip


def named(case: tuple[dict[str, int], str, str, int, Any]) -> str:
    return f"{case[2]} by " + " and ".join(f"{part} {number}" for part, number in case[0].items())


@pytest.mark.parametrize(("parts", "melds", "level", "hu", "misses"), TABLE, ids=map(named, TABLE))
def test_a_combination_reaches_its_level_and_no_less_does(
    parts: dict[str, int], melds: str, level: str, hu: int, misses: list[tuple[str, str, int]]
) -> None:
    assert answer(melds) == (level, hu)
    for missing, lower, less in misses:
        assert answer(missing) == (lower, less)


def test_every_combination_is_tried() -> None:
    tried = [(level, parts) for parts, _, level, _, _ in TABLE]
    assert sorted(tried, key=str) == sorted(COMBINATIONS, key=str)


@pytest.mark.parametrize(
    ("melds", "worth"),
    [
        (f"{FIVE_KONGS}, {SOLDIERS}, single Ky", 0),  # 47 hu
        (f"{FIVE_KONGS}, single Ky, single Kr, single Kw", 1),  # 48
        ("pung PPPy, own pair PPr, own pair PPw, own pair PPg, own kong AAAAw, own kong AAAAr", 2),  # 100
        (f"{LONG_CLAIMED}, pung HHHr", 4),  # 229
        ("kong HHHHy, kong CCCCy, pung RRRy", 5),  # 54, by combination
        (f"{TWO_LONG}, pung AAAr", 9),  # 499
        (f"{TWO_LONG}, pung RRRr", 10),
        (f"{THREE_LOU}, own kong RRRRy, own kong RRRRw, own pung AAAr, own pung HHHr, single Ky", 10),  # 61
    ],
)  # fmt: skip
def test_worth(melds: str, worth: int) -> None:
    score = analysis.score(hand(melds))
    assert score is not None
    assert score.extra["worth"] == worth


def test_house_rules() -> None:
    def hu(melds: str, *more: str, **options: Any) -> int:
        return answer(melds, *more, options=options)[1]

    generals = "single Ky, single Kr, single Kw, single Kg, single Kg"
    assert (hu(generals), hu(generals, generals_cap=3)) == (5, 3)
    paired = "own pair KKy, own pair AAy, own pung EEEy"
    assert (hu(paired), hu(paired, generals_in_out_wagon=False)) == (25, 23)
    pair = ("own pair RRy, own pair HHy, single Ky", "Cy", "Cy")
    assert (hu(*pair), hu(*pair, winning_pair_is_block=True)) == (1, 11)
    doubled = hand("kong HHHHg, kong CCCCr, own kong AAAAr, single Ky", options={"lou_doubles": True})
    score = analysis.score(doubled)
    assert score is not None
    assert (score.total, score.extra["worth"]) == (22, 1)
    more = hand("kong HHHHg, kong PPPPr, own kong AAAAr, single Ky", options={"lou_doubles": True})
    score = analysis.score(more)
    assert score is not None
    assert (score.total, score.extra["worth"]) == (28, 2)  # 28 x 4 = 112


def test_generals_in_two_wagons_that_are_out_count_once() -> None:
    both = "own pair KKy, pung KKKr, own pair KKw, own pair AAy, pung EEEy, single Kg"
    # Fat wagon one out 40, plain wagon one out 20, claimed pungs 2 and 1, four generals in pairs, a single.
    assert answer(both) == ("pai", 68)


def test_a_pair_shown_of_own_cards_is_a_block_and_a_claimed_one_is_not() -> None:
    assert answer("own pair RRy, own pair HHy, own pair CCy, single Ky")[1] == 11
    assert answer("own pair RRy, own pair HHy, pair CCy, single Ky")[1] == 1


@pytest.mark.parametrize("fact", [setting.name for setting in CONTEXT])
def test_facts_that_forbid_the_win(fact: str) -> None:
    facts: dict[str, Any] = {fact: True}
    result = analyse(hand("kong HHHHg, kong CCCCr, single Ky", **facts))
    assert result.status == "not-allowed"
    assert result.score is not None
    assert result.score.extra["worth"] == 1
    assert "No win." in result.notes[0]


def test_notes_say_why() -> None:
    low = analyse(hand("single Ky"))
    assert low.status == "not-allowed"
    assert "1 hu and no combination: a win needs 48 hu" in low.notes[0]
    won = analyse(hand("kong HHHHg, kong CCCCr, single Ky"))
    assert "13 hu, 2 樓, level 一牌: 2 樓. Worth 1." in won.notes
    joker = Hand.from_document({"rules": "guangshui", "concealed": "1j Ky"})
    notes = " ".join(analyse(joker).notes)
    assert "no jokers are in this game" in notes
    assert "2 cards: a hand has 31" in notes


def test_a_hand_without_its_winning_piece_named() -> None:
    document = hand("own kong HHHHg, single Ky", "RRRr", "Rr").to_document()
    document["concealed"] = "RRRRr"
    del document["winning"]
    result = analyse(Hand.from_document(document))
    assert result.score is not None
    assert result.score.total == 28
    assert any("It has 22 hu" in note and "Rr" in note for note in result.notes)


def test_advice_never_throws_a_general() -> None:
    result = analyse(hand("kong HHHHg, kong CCCCr", "KyKrKwAyErHy", "Eg"))
    assert result.status in ("ready", "building")
    assert {str(each.discard) for each in result.advice} == {"Ay", "Er", "Hy", "Eg"}


def test_waits_tell_whether_the_least_is_reached() -> None:
    won = hand("kong HHHHg, single Ky", "RRRr", "Rr").to_document()
    del won["winning"]
    waits = {str(wait.piece): wait for wait in analysis.waits(Hand.from_document(won))}
    assert (waits["Rr"].status, waits["Rr"].total, waits["Rr"].left) == ("won", 19, 1)
    assert (waits["Kr"].status, waits["Kr"].left) == ("not-allowed", 4)


def test_absurdly_many_melds_are_an_invalid_hand() -> None:
    melds = [{"kind": "kong", "pieces": "KKKKr"}] * 500
    result = analyse(Hand.from_document({"rules": "guangshui", "concealed": "RHCr" * 100, "melds": melds}))
    assert result.status == "invalid"


def test_arrangements_are_all_there_are_best_first() -> None:
    won = hand("kong HHHHg", "KKKKAAAAEEEEy", "Cw")
    assert not analysis.arrangements(won)  # the cannon is idle
    won = hand("kong HHHHg", "KKKKAAAAEEEEy", "Kr")
    ways = analysis.arrangements(won)
    # Without a chow 5 ways to stand the generals and 2 each of the others, with one 3, two 2, and four.
    assert len(ways) == 5 * 2 * 2 + 3 + 2 + 1
    assert ways[0] == analyse(won).arrangement
    assert {"kong KKKKy", "kong AAAAy", "kong EEEEy"} <= set(map(str, ways[0]))


def test_a_typed_hand_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["score", "--rules", "guangshui", "RRRHHHCCCr Ky Kr RRy HHy CCy RRw HHw CCw EEy EEr AAy Aw"]
    assert main([*words, "--win", "Aw"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Won: 74 hu")
    for text in ("Plain wagon 素車 (plain-wagon) x 3", "level pai, worth 1", "cap none", "Steps are"):
        assert text in out


# Payments

WON = hand("kong HHHHy, kong CCCCy, pung RRRy")  # worth 5
DRAWN = hand("kong HHHHy, kong CCCCy, pung RRRy", source="wall")


def paid(*events: Event) -> list[int]:
    gains = net(GUANGSHUI.payments(events, {}), 3)
    assert sum(gains) == 0
    return gains


def test_each_loser_pays_the_worth() -> None:
    assert paid(Win({2: WON}, payer=0)) == [-5, -5, 10]
    assert paid(Win({0: DRAWN})) == [10, -5, -5]
    assert paid(Win({0: WON, 2: WON}, payer=1)) == [-5, -5, 10]
    assert paid(Kong(0, "concealed"), WallEnd({})) == [0, 0, 0]


def test_a_hand_below_the_least_wins_nothing() -> None:
    with pytest.raises(HandError, match="the hand is not won"):
        paid(Win({1: hand("single Ky")}, payer=0))
