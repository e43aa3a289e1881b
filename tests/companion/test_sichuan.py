"""What worked hands do not show: contradictions, notes, advice, and the payments of whole rounds."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion import Hand, HandError, analyse, analysis
from companion.commands.bench import won_hand, worse
from companion.pieces import parse_pieces
from companion.rules import RULE_SETS
from companion.rules.rounds import Event, Kong, Transfer, WallEnd, Win, net
from companion.rules.sichuan import SICHUAN


def hand(concealed: str, *melds: str, win: str = "", source: str = "discard", **more: Any) -> Hand:
    """A hand; each meld as ``pung 222m``; `options` and the context's fields by name."""
    document: dict[str, Any] = {"rules": "sichuan", "concealed": concealed}
    document["melds"] = [dict(zip(("kind", "pieces"), meld.split(), strict=True)) for meld in melds]
    document["options"] = more.pop("options", {})
    if win:
        document["winning"] = {"piece": win, "from": source}
    return Hand.from_document({**document, "context": {"void": "s", **more}})


PLAIN = "123456m3467899p"  # waits for 25p and more; won on 2p it has no fan
KONG = ("456m2345678p", "kong 1111m")  # complete with 9p


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda: hand(PLAIN, win="2p", robbed_kong=True, last_tile=True), "context.robbed_kong"),
        (lambda: hand(PLAIN, win="2p", robbed_kong=True, discard_after_kong=True), "context.robbed_kong"),
        (lambda: hand(PLAIN, win="2p", source="wall", robbed_kong=True), "context.robbed_kong"),
        (lambda: hand(PLAIN, win="6p", robbed_kong=True), "context.robbed_kong"),
        (lambda: hand("13m456789p99p", "pung 222m", win="2m", robbed_kong=True), "context.robbed_kong"),
        (lambda: hand("123406m3467899p", win="5m", robbed_kong=True), "context.robbed_kong"),
        (lambda: hand(*KONG, win="9p", after_kong=True), "context.after_kong"),
        (lambda: hand(PLAIN, win="2p", source="wall", after_kong=True), "context.after_kong"),
        (lambda: hand(*KONG, after_kong=True, discard_after_kong=True), "context.after_kong"),
        (lambda: hand(PLAIN, win="2p", source="wall", discard_after_kong=True), "context.discard_after_kong"),
    ],
)
def test_contradicting_context_is_an_error(make: Any, where: str) -> None:
    with pytest.raises(HandError) as caught:
        make()
    assert caught.value.where == where


def test_waits_count_the_situation_only_as_far_as_a_discard_can_have_it() -> None:
    ready = hand("13m45678999p", "kong 2222p", after_kong=True)
    assert [(str(wait.piece), wait.total) for wait in analysis.waits(ready)] == [("2m", 1)]
    robbing = hand("123456m34678p99p", robbed_kong=True)
    assert {str(wait.piece): wait.total for wait in analysis.waits(robbing)} == {"2p": 1, "5p": 1}
    held = hand("123456m22p66p789p", robbed_kong=True)  # a piece of which one is held cannot be robbed
    assert {str(wait.piece): wait.total for wait in analysis.waits(held)} == {"2p": 0, "6p": 0}
    last = hand("123456m34678p99p", last_tile=True)
    assert {wait.total for wait in analysis.waits(last)} == {1}


def test_a_hand_without_its_winning_piece_named() -> None:
    result = analyse(hand("123456m23467899p"))
    assert (result.status, result.score and result.score.extra["payers"]) == ("won", 1)
    assert [note for note in result.notes if "Golden wait depends on naming" in note and "9p" in note]
    certain = analyse(hand("55p", "pung 111m", "pung 333m", "pung 888p", "pung 999p"))
    assert not [note for note in certain.notes if "depends" in note]
    kong = analyse(hand("456m23467899p", "kong 1111m", after_kong=True))
    assert (kong.status, kong.score and kong.score.total) == ("won", 1)
    assert "Self-draw after a kong is not counted" in " ".join(kong.notes)


def test_notes_say_why() -> None:
    def notes(*args: Any, **more: Any) -> str:
        return " ".join(analyse(hand(*args, **more)).notes)

    assert "sichuan does not use 112z" in notes("112z123456m4567p")
    assert "5 times 1m" in notes("11m345678p99p5p", "pung 111m")
    assert "12 pieces: a hand has 14, or 13" in notes("123456789m123p")
    assert "a hand with 1 kong has 15, or 14" in notes("123456789m123p", "kong 5555p")
    assert "meld of the void suit (pung 555s)" in notes("123456m3499p", "pung 555s")
    assert "77s: void-suit tiles" in notes("123456m34p77s789p")
    assert "three suits and no void suit" in notes("123456m34p77s789p", void=None)
    assert "but with void-suit tiles: not complete" in notes("123456m99p77s888p", win="7s")
    assert "7p does not complete the hand" in notes(PLAIN, win="7p")
    assert "4 fan found, 3 counted" in notes("1122445577889m", win="9m")
    assert "15f" in " ".join(analyse(Hand.from_document({**hand(PLAIN).to_document(), "bonus": "15f"})).notes)


def test_invalid_hands_still_show_their_melds() -> None:
    result = analyse(hand("11111m234p99p1z5f"))
    assert (result.status, result.shanten, result.waits, result.advice) == ("invalid", None, (), ())
    assert {str(meld) for meld in result.legal_melds} == {
        "pair 11m", "pung 111m", "kong 1111m", "chow 234p", "pair 99p",
    }  # fmt: skip
    assert [str(meld) for meld in result.arrangement] == [
        "pung 111m", "chow 234p", "pair 11m", "pair 99p", "loose 1z", "loose 5f",
    ]  # fmt: skip


def test_red_fives_are_seen_where_they_stand() -> None:
    result = analyse(hand("340m055p22p99m67m", win="9m"))
    shown = [piece for meld in result.arrangement for piece in meld.pieces]
    assert sum(piece.rank == "0" for piece in shown) == 2
    won = analyse(hand("34m555p22p999m678p", win="0m"))
    assert won.status == "won"
    assert "chow 340m" in map(str, won.arrangement)


def test_a_meld_completed_by_a_discard_is_not_concealed() -> None:
    def concealed(source: str) -> dict[str, bool]:
        result = analyse(hand("345m222p66p99m678p", win="9m", source=source))
        return {str(meld): meld.concealed for meld in result.arrangement}

    assert concealed("discard")["pung 999m"] is False
    assert concealed("discard")["pung 222p"] is True
    assert concealed("wall")["pung 999m"] is True


def test_void_pieces_are_thrown_first_among_equals() -> None:
    best = analyse(hand("123456m3478p9p11s9m")).advice[0]
    assert best.discard.suit == "s"


def test_described_for_forms() -> None:
    described = RULE_SETS["sichuan"].describe()
    assert described["presets"]["sbr"]["wall_end"] == "sbr"
    for part in ("options", "context"):
        for setting in described[part]:
            assert setting["label"]
            assert setting["help"]
            assert setting["default"] in [choice["value"] for choice in setting["choices"]]
    for name, preset in described["presets"].items():
        hand(PLAIN, options={"preset": name, **preset})  # every value is a known one


# Payments

CHENGDU = {"preset": "chengdu"}
SBR = {"preset": "sbr"}
FLUSH = hand("1113335557799m", win="7m")
FLUSH_DRAWN = hand("1113335557799m", win="7m", source="wall")
DRAWN = hand(PLAIN, win="2p", source="wall")


def paid(events: list[Event], **options: Any) -> list[int]:
    return net(SICHUAN.payments(events, options), 4)


def test_several_winners_on_one_discard() -> None:
    event = Win({0: hand(PLAIN, win="2p"), 3: hand(PLAIN, win="2p")}, payer=1)
    assert paid([event]) == [1, -2, 0, 1]
    assert paid([event], multi_winner="first") == [0, -1, 0, 1]  # seat 3 sits before seat 0 after seat 1


def test_winners_leave_and_pay_no_more() -> None:
    events: list[Event] = [Win({2: FLUSH}, payer=0), Win({1: DRAWN})]
    assert paid(events) == [-8 - 2, 4, 8, -2]
    with pytest.raises(HandError, match="seat 2 is not in the game"):
        paid([*events, Kong(2, "concealed")])


def test_self_draw_by_option() -> None:
    assert paid([Win({0: FLUSH_DRAWN})]) == [27, -9, -9, -9]
    assert paid([Win({0: FLUSH_DRAWN})], self_draw="nothing") == [24, -8, -8, -8]
    assert paid([Win({0: FLUSH_DRAWN})], **CHENGDU) == [48, -16, -16, -16]


def test_kong_money_and_when_it_goes_back() -> None:
    kongs: list[Event] = [
        Kong(0, "concealed"),
        Kong(0, "discard", 2),
        Kong(1, "promoted"),
        Kong(1, "promoted-later"),
    ]
    assert paid(kongs) == [0, 0, 0, 0]
    assert paid(kongs, **SBR) == [6 + 2 - 1, -2 + 3, -2 - 2 - 1, -2 - 1]
    robbed = Win({3: hand(PLAIN, win="2p", robbed_kong=True)}, payer=1)
    assert paid([Kong(1, "concealed"), Kong(1, "promoted"), robbed], **SBR) == [-2, 6 - 2, -2, -2 + 2]
    thrown = Win({3: hand(PLAIN, win="2p", discard_after_kong=True)}, payer=0)
    assert paid([Kong(0, "concealed"), Kong(0, "concealed"), thrown], **SBR) == [6 - 2, -2, -2, -2 + 2]


READY = hand("123456m34678p99p")
FAR = hand("147m258m369m1471p")
VOID_LEFT = hand("123456m34678p9p1s")


@pytest.mark.parametrize(
    ("wall_end", "expected"),
    [("report", [0, 0, 0, 0]), ("sbr", [3, -1, -1, -1]), ("chengdu", [8 + 8 + 1, 8 + 8 - 1, -16, -16])],
)
def test_walls_end(wall_end: str, expected: list[int]) -> None:
    end = WallEnd({0: READY, 1: FAR, 2: VOID_LEFT, 3: VOID_LEFT})
    assert paid([end], wall_end=wall_end) == expected
    standings = SICHUAN.standings(end, {})
    assert [standing.ready for standing in standings] == [True, False, False, False]
    assert [len(standing.void_left) for standing in standings] == [0, 0, 1, 1]


def test_walls_end_pays_the_best_wait_without_situation() -> None:
    flush = hand("1112345678999m", last_tile=True)
    best = max(wait.total for wait in analysis.waits(hand("1112345678999m")))
    end = WallEnd({1: flush, 3: FAR})
    events: list[Event] = [Win({0: hand(PLAIN, win="2p")}, 1), Win({2: hand(PLAIN, win="2p")}, 1), end]
    assert paid(events, wall_end="sbr") == [1, -2 + 2 ** min(best, 3), 1, -(2 ** min(best, 3))]


def test_kong_money_of_the_not_ready_goes_back_at_the_walls_end() -> None:
    end = WallEnd({0: READY, 1: FAR, 2: READY, 3: READY})
    options = {"kong_money": "sbr", "wall_end": "report"}
    assert paid([Kong(0, "concealed"), Kong(1, "concealed"), end], **options) == [6, -2, -2, -2]


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([Win({0: hand(PLAIN)}, 1)], "a winning piece from the discard is needed"),
        ([Win({0: DRAWN}, 1)], "a winning piece from the discard is needed"),
        ([Win({0: DRAWN, 1: DRAWN})], "a self-draw has one winner"),
        ([Win({0: hand(PLAIN, win="7p")}, 1)], "the hand is not won"),
        ([Win({0: hand("123456m3499p", "pung 555s", win="2p")}, 1)], "the hand is not won"),
        ([Win({0: FLUSH}, 0)], "seat 0 cannot pay itself"),
        ([Win({4: FLUSH}, 0)], "seat 4 is not in the game"),
        ([Kong(0, "discard")], "exactly when it was made from a discard"),
        ([Kong(0, "concealed", 1)], "exactly when it was made from a discard"),
        ([WallEnd({0: READY})], "the hands of the seats still in are needed"),
    ],
)
def test_rounds_that_cannot_be(events: list[Event], message: str) -> None:
    with pytest.raises(HandError, match=message) as caught:
        SICHUAN.payments(events, {})
    assert caught.value.where.startswith("events[0]")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["mahjongo", "sbr", "chengdu"]))
def test_every_round_sums_to_zero(seed: int, preset: str) -> None:
    rng = random.Random(seed)
    still_in = [0, 1, 2, 3]
    events: list[Event] = []
    while len(still_in) > 1 and rng.random() < 0.8:
        seat, other = rng.sample(still_in, 2)
        if rng.random() < 0.5:
            kind = rng.choice(("concealed", "discard", "promoted", "promoted-later"))
            events.append(Kong(seat, kind, other if kind == "discard" else None))  # type: ignore[arg-type]
        else:
            won = won_hand(rng)
            assert won.winning
            events.append(Win({seat: won}, None if won.winning.source == "wall" else other))
            still_in.remove(seat)
    if len(still_in) > 1:
        held = (
            Hand(h.rules, h.concealed, h.melds, context=h.context) for h in (won_hand(rng) for _ in still_in)
        )
        events.append(WallEnd({seat: worse(rng, each) for seat, each in zip(still_in, held, strict=True)}))
    transfers = SICHUAN.payments(events, {"preset": preset})
    assert sum(net(transfers, 4)) == 0
    assert all(isinstance(t, Transfer) and t.amount > 0 and t.payer != t.payee for t in transfers)


def test_a_round_tells_who_is_in_whether_it_is_over_and_who_deals_next() -> None:
    def played(*events: Event, players: int = 4) -> tuple[tuple[int, ...], bool, int | None]:
        round_ = SICHUAN.play(events, {}, players)
        return round_.still_in, round_.over, round_.next_dealer

    won, drawn = hand(PLAIN, win="2p"), DRAWN
    assert played() == ((0, 1, 2, 3), False, None)
    assert played(Win({2: won}, 0)) == ((0, 1, 3), False, 2)
    assert played(Win({2: won, 3: won}, 0)) == ((0, 1), False, 0)  # the owner of the piece deals next
    assert played(Win({2: won}, 0), Win({1: won, 3: won}, 0)) == ((0,), True, 2)
    assert played(Win({1: drawn}), players=2) == ((0,), True, 1)
    assert played(Win({1: drawn}), players=3) == ((0, 2), False, 1)
    assert played(WallEnd(dict.fromkeys(range(4), FAR))) == ((0, 1, 2, 3), True, None)
    # A self-draw is paid by those still in, and its result says so.
    outcome = SICHUAN.play([Win({2: won}, 0), Win({1: drawn})], {}).outcomes[1]
    score = outcome.results[1].score
    assert score and score.extra["payers"] == 2 == len(outcome.transfers)
    # Who shows nothing is not ready; who shows only void tiles has void tiles left.
    void = Hand("sichuan", parse_pieces("5s"), context={"void": "s"})
    standings = SICHUAN.play([WallEnd({0: Hand("sichuan", ()), 1: void, 2: READY, 3: FAR})], {}).outcomes[0]
    assert [(each.ready, bool(each.void_left)) for each in standings.standings] == [
        (False, False), (False, True), (True, False), (False, False),
    ]  # fmt: skip
