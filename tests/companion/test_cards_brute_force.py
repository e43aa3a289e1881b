"""The card games against the slow way, on random hands, many of few kinds and so full of choices. Distances
are checked twice: by trying every card in place of every other, and by an integer program.

`COMPANION_BRUTE_HANDS` says how many hands of each sort each game is tried on, `COMPANION_BRUTE_ROUND` which
ones: each number, 0 if none is given, stands for other hands.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from companion import Hand, Meld, Result, Winning, analyse, analysis, parse_pieces
from companion.pieces import Piece
from tests.companion import brute_cards as brute
from tests.companion.brute_cards import Declared

HANDS = int(os.environ.get("COMPANION_BRUTE_HANDS", "12"))
SEED = 1000 * int(os.environ.get("COMPANION_BRUTE_ROUND", "0"))


class Dealt(NamedTuple):
    """A hand before it becomes one: all but its winning card."""

    cards: list[str]
    declared: list[Declared]
    winner: str | None
    options: dict[str, Any]
    jokers: bool

    def hand(self, rules: str) -> Hand:
        return Hand(
            rules,
            parse_pieces("".join(self.cards)),
            tuple(Meld(kind, parse_pieces(text), own) for kind, text, own in self.declared),
            Winning(Piece.parse(self.winner), "discard") if self.winner else None,
            context={} if rules == "guangshui" else {"jokers": self.jokers},
            options=self.options,
        )


def random_meld(rng: random.Random, kinds: list[str], jokers: bool) -> tuple[str, ...]:
    card = rng.choice(kinds)
    if jokers and rng.random() < 0.05:
        return (rng.choice(brute.JOKERS),)
    wall = kinds * 4
    melds = list(brute.melds_with(card, wall))
    return rng.choice(melds)


def few_kinds(rng: random.Random) -> list[str]:
    """Some kinds to build a hand of, most often such as make melds with each other."""
    if rng.random() < 0.7:
        chosen = rng.sample(brute.GROUPS, rng.choice((2, 3, 3, 4, 9)))
        return [card for group in chosen for card in group]
    return rng.sample(brute.ALL, rng.choice((7, 9, 14, 28)))


def complete_hands(seed: int, count: int, full: int, rules: str) -> Iterator[Dealt]:
    """Random hands of melds, some declared, won with one of the other cards or with none named."""
    rng = random.Random(seed)
    while count:
        kinds, jokers, copies = few_kinds(rng), rules == "fujian" and rng.random() < 0.7, 4
        if rules == "fujian" and rng.random() < 0.2:
            copies = 5
        melds: list[tuple[str, ...]] = []
        held: Counter[str] = Counter()
        for _ in range(100):
            meld = random_meld(rng, kinds, jokers)
            more = held + Counter(meld)
            if sum(more.values()) > full or any(
                number > (1 if card[1] == "j" else copies) for card, number in more.items()
            ):
                continue
            melds.append(meld)
            held = more
        if sum(held.values()) != full:
            continue
        rng.shuffle(melds)
        down = melds[: rng.choice((0, 0, 0, 1, 2, 4))]
        cards = [card for meld in melds[len(down) :] for card in meld]
        if not cards:
            continue
        rng.shuffle(cards)
        winner = cards.pop() if rng.random() < 0.85 else None
        declared = [(brute.kind_of(meld), "".join(meld), rng.random() < 0.4) for meld in down]
        options: dict[str, Any] = {}
        if rules == "fujian":
            options = {"lock_dealt": rng.random() < 0.7, "hand_size": full, "copies": copies}
        else:
            options = {name: rng.choice(list(values)) for name, (_, values) in HOUSE.items()}
        yield Dealt(sorted(cards), declared, winner, options, jokers)
        count -= 1


def any_hands(seed: int, count: int, full: int, rules: str) -> Iterator[Dealt]:
    """Hands with some cards of a complete one exchanged, or dealt at random; full or one short."""
    rng = random.Random(seed)
    for dealt in complete_hands(seed + 1, count, full, rules):
        copies = dealt.options.get("copies", 4)
        cards = dealt.cards + ([dealt.winner] if dealt.winner else [])
        used = Counter(cards) + Counter(
            card for _, text, _ in dealt.declared for card in brute.cards_of(text)
        )
        wall = [card for card in brute.ALL for _ in range(copies - used[card])]
        wall += [card for card in brute.JOKERS if dealt.jokers and not used[card]]
        rng.shuffle(wall)
        for _ in range(rng.choice((0, 1, 1, 2, 3, 5, len(cards)))):
            cards[rng.randrange(len(cards))] = wall.pop()
        winner = cards.pop() if rng.random() < 0.6 else None
        if winner and rng.random() < 0.5:
            winner = None  # one card short
        yield Dealt(sorted(cards), dealt.declared, winner, dealt.options, dealt.jokers)


def fits(result: Result, dealt: Dealt) -> bool:
    """Whether the arrangement holds the hand's cards."""
    shown = Counter(str(piece) for meld in result.arrangement for piece in meld.pieces)
    return shown == Counter(dealt.cards) + Counter([dealt.winner] if dealt.winner else []) + Counter(
        card for _, text, _ in dealt.declared for card in brute.cards_of(text)
    )


def locks(dealt: Dealt) -> dict[str, int]:
    return brute.locked_kinds(dealt.cards, dealt.options.get("lock_dealt", False))


def exchanges(dealt: Dealt, cards: list[str], rules: str) -> dict[str, list[str]]:
    """The cards that a full hand may discard, each with those that may come in its place."""
    free = Counter(dealt.cards)
    locked = locks(dealt)
    free.subtract(locked)
    may_go = [
        card
        for card in sorted(set(cards))
        if (free[card] > 0 or card == dealt.winner) and locked.get(card) != 3
        if rules != "guangshui" or card[0] != "K"
    ]
    room = brute.room_beside(dealt.declared, dealt.options.get("copies", 4), dealt.jokers)
    left = dict(zip(brute.KINDS, room - brute.numbers(cards), strict=True))
    return {card: [more for more in brute.KINDS if left[more] + (more == card) > 0] for card in may_go}


def check_distance(dealt: Dealt, full: int, rules: str) -> None:
    """Shanten, waits' pieces and advice of a hand, complete or not."""
    hand = dealt.hand(rules)
    result = analyse(hand)
    told = hand.to_document()
    copies = dealt.options.get("copies", 4)
    locked = locks(dealt)
    down = sum(len(text) // 2 for _, text, _ in dealt.declared)
    cards = dealt.cards + ([dealt.winner] if dealt.winner else [])
    room = brute.room_beside(dealt.declared, copies, dealt.jokers)
    held = brute.numbers(cards)
    one = {card: brute.numbers([card]) for card in brute.KINDS}

    def far(hands: list[np.ndarray]) -> list[int]:
        return brute.missing(np.array(hands), dealt.declared, full, locked, copies, dealt.jokers).tolist()

    def left(card: str) -> int:
        return int((room - held)[brute.KINDS.index(card)])

    assert fits(result, dealt), told
    if len(cards) + down == full:
        complete = far([held]) == [0]
        assert analysis.is_complete(hand) == complete, told
        if complete:
            assert result.shanten == -1
            assert result.status in ("won", "not-allowed")
            return
        expected = {}
        may_go = exchanges(dealt, cards, rules)
        tried = [held - one[card] + one[more] for card, others in may_go.items() for more in others]
        after = iter(far(tried))
        for card, distance in zip(may_go, far([held - one[card] for card in may_go]), strict=True):
            helping = {more: left(more) + (more == card) for more in may_go[card] if next(after) < distance}
            expected[card] = (distance - 1, helping)
        told_advice = {
            str(each.discard): (each.shanten, {str(piece): number for piece, number in each.pieces})
            for each in result.advice
        }
        assert told_advice == expected, told
        assert result.shanten == min(shanten for shanten, _ in expected.values()), told
        assert result.advice[0].shanten == result.shanten
        assert analysis.shanten(hand) == result.shanten
    else:
        assert result.shanten == far([held])[0] - 1 == analysis.shanten(hand), told
        drawn = [card for card in brute.KINDS if left(card) > 0]
        after = iter(far([held + one[card] for card in drawn]))
        expected_waits = {card: left(card) for card in drawn if next(after) == 0}
        assert {str(wait.piece): wait.left for wait in result.waits} == expected_waits, told
        assert (result.status == "ready") == bool(expected_waits)


def check_by_program(dealt: Dealt, full: int, rules: str, rng: random.Random) -> None:
    """The shanten of a hand one card short, or one discard of a full one and whether some piece helps then,
    as the integer program has it."""
    hand = dealt.hand(rules)
    result = analyse(hand)
    told = hand.to_document()
    cards = dealt.cards + ([dealt.winner] if dealt.winner else [])
    how = (dealt.declared, full, locks(dealt), dealt.options.get("copies", 4), dealt.jokers)
    held = brute.numbers(cards)
    if not result.advice:
        assert result.shanten == brute.missing_by_program(held, *how) - 1, told
        return
    advice = rng.choice(result.advice)
    rest = held - brute.numbers([str(advice.discard)])
    assert advice.shanten == brute.missing_by_program(rest, *how) - 1, told
    helping = {str(piece) for piece, _ in advice.pieces}
    more = rng.choice(exchanges(dealt, cards, rules)[str(advice.discard)])
    far = brute.missing_by_program(rest + brute.numbers([more]), *how)
    assert far == advice.shanten + (more not in helping), (told, more)


# The option's name here and there, and its value there for each value here.
HOUSE: dict[str, tuple[str, dict[Any, Any]]] = {
    "generals_cap": ("cap", {"none": None, 3: 3}),
    "generals_in_out_wagon": ("in_out_wagon", {True: True, False: False}),
    "winning_pair_is_block": ("winning_pair", {False: False, True: True}),
    "lou_doubles": ("doubles", {False: False, True: True}),
}


def translated(options: dict[str, Any]) -> dict[str, Any]:
    return {HOUSE[name][0]: HOUSE[name][1][value] for name, value in options.items()}


def test_guangshui_takes_what_is_worth_most() -> None:
    won = 0
    for dealt in complete_hands(SEED + 31, 2 * HANDS, 31, "guangshui"):
        hand = dealt.hand("guangshui")
        result = analyse(hand)
        best = brute.guangshui_best(dealt.cards, dealt.declared, dealt.winner, **translated(dealt.options))
        assert best is not None
        assert result.score is not None
        extra = result.score.extra
        assert (extra["worth"], result.score.total, extra["level"]) == best, hand.to_document()
        assert sum(item.value for item in result.score.items) == result.score.total, hand.to_document()
        assert result.status == ("won" if best[0] else "not-allowed")
        won += best[0] > 0
    assert won > HANDS // 2


def test_guangshui_distances() -> None:
    for dealt in any_hands(SEED + 131, HANDS, 31, "guangshui"):
        check_distance(dealt, 31, "guangshui")


def test_guangshui_distances_by_integer_program() -> None:
    rng = random.Random(SEED)
    for dealt in any_hands(SEED + 231, HANDS, 31, "guangshui"):
        check_by_program(dealt, 31, "guangshui", rng)


def test_guangshui_waits_and_their_value() -> None:
    for dealt in any_hands(SEED + 8, HANDS, 31, "guangshui"):
        for wait in analysis.waits(dealt.hand("guangshui")):
            best = brute.guangshui_best(
                dealt.cards, dealt.declared, str(wait.piece), **translated(dealt.options)
            )
            assert best is not None
            assert (wait.total, wait.status) == (best[1], "won" if best[0] else "not-allowed"), (dealt, wait)


def test_fujian_scores_are_the_most_of_all_arrangements() -> None:
    won = 0
    for full in (21, 26):
        for dealt in complete_hands(SEED + full, HANDS, full, "fujian"):
            hand = dealt.hand("fujian")
            result = analyse(hand)
            best = brute.fujian_best(dealt.cards, dealt.declared, dealt.winner, dealt.options["lock_dealt"])
            assert (result.score.total if result.score else None) == best, hand.to_document()
            if result.score:
                won += 1
                assert best is not None
                assert best % 2 == full % 2, hand.to_document()
                if not any("j" in text for text in (*dealt.cards, *(text for _, text, _ in dealt.declared))):
                    assert dealt.winner in brute.JOKERS or best <= {21: 41, 26: 50}[full]
    # Locked threes and pairs spoil about half of the random hands.
    assert won > HANDS // 2


def test_fujian_distances() -> None:
    for full in (21, 26):
        for dealt in any_hands(SEED + 100 + full, HANDS, full, "fujian"):
            check_distance(dealt, full, "fujian")


def test_fujian_distances_by_integer_program() -> None:
    rng = random.Random(SEED)
    for full in (21, 26):
        for dealt in any_hands(SEED + 200 + full, HANDS, full, "fujian"):
            check_by_program(dealt, full, "fujian", rng)


def test_fujian_waits_and_their_value() -> None:
    for dealt in any_hands(SEED + 7, HANDS, 21, "fujian"):
        for wait in analysis.waits(dealt.hand("fujian")):
            best = brute.fujian_best(
                dealt.cards, dealt.declared, str(wait.piece), dealt.options["lock_dealt"]
            )
            assert wait.total == best, (dealt, wait)
