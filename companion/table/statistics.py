"""What an evening was like: who won how often, the biggest hands, what was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from companion.rules.rounds import Kong, WallEnd, Win
from companion.table.replay import State


@dataclass(frozen=True, slots=True)
class BigHand:
    """A won hand: where it was won, its score in the game's unit, what it earned in the table's amounts."""

    round: int
    seat: int
    total: int
    earned: int


@dataclass(frozen=True, slots=True)
class SeatStatistics:
    """One player's evening. wins: hands won, `self_draws` among them. paid_for: wins of others on this
    player's piece. kongs: recorded ones. ready: wall's ends reached ready. best, worst: of one round."""

    wins: int
    self_draws: int
    paid_for: int
    kongs: int
    ready: int
    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """rounds: that count. unpaid: rounds without a winner. seats: by seat. biggest: hands by what they
    earned. items: how often each scoring item was seen in won hands."""

    rounds: int
    unpaid: int
    seats: tuple[SeatStatistics, ...]
    biggest: tuple[BigHand, ...]
    items: Mapping[str, int]


MOST_HANDS = 5


def statistics(state: State) -> Statistics:
    """The statistics of the rounds that count."""
    wins, self_draws, paid_for, kongs, ready = (Counter[int]() for _ in range(5))
    items: Counter[str] = Counter()
    hands: list[BigHand] = []
    unpaid = 0
    for round_ in state.counted:
        won = False
        for event, outcome in zip(round_.events, round_.outcomes, strict=True):
            if isinstance(event, Kong):
                kongs[event.seat] += 1
            elif isinstance(event, WallEnd):
                ready.update(standing.seat for standing in outcome.standings if standing.ready)
            elif isinstance(event, Win):
                won = True
                for seat, result in outcome.results.items():
                    wins[seat] += 1
                    self_draws[seat] += event.payer is None
                    if event.payer is not None:
                        paid_for[event.payer] += 1
                    # What a refunded kong brings a winner is not earned by the hand.
                    won_by = [each for each in outcome.transfers if each.reason.startswith("win")]
                    paid = sum(each.amount for each in won_by if each.payee == seat)
                    if result.score:
                        total, earned = result.score.total, paid * state.create.stake
                        hands.append(BigHand(round_.number, seat, total, earned))
                        for item in result.score.items:
                            items[item.name] += item.count
        unpaid += round_.over and not won
    gains = [round_.gains(state.seats) for round_ in state.counted]
    seats = tuple(
        SeatStatistics(
            wins[seat], self_draws[seat], paid_for[seat], kongs[seat], ready[seat],
            max((gain[seat] for gain in gains), default=0), min((gain[seat] for gain in gains), default=0),
        )
        for seat in range(state.seats)
    )  # fmt: skip
    hands.sort(key=lambda hand: (-hand.earned, -hand.total, hand.round))
    return Statistics(len(state.counted), unpaid, seats, tuple(hands[:MOST_HANDS]), dict(items.most_common()))
