"""The most probable reading that the deck allows: no piece more often than there are copies of it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from companion.pieces import DECKS, Piece
from companion.reading import BACK, Candidate

EXTRA_COPY_ODDS = 0.02
"""How probable one copy too many is before the pictures are asked: two sets mixed, a tile located twice."""


def legal_choice(
    candidates: Sequence[Sequence[Candidate]],
    copies: int = 4,
    used: Mapping[str, int] | None = None,
    extra_odds: float = EXTRA_COPY_ODDS,
) -> list[tuple[Candidate, ...]]:
    """Re-rank the candidates of each piece so that the first ones are the most probable legal reading.

    candidates: per piece, best first. copies: how many equal pieces there are (a red five counts as a five;
    of each flower there is one). used: how many of a kind lie elsewhere. extra_odds: how probable a copy too
    many is all the same; when the pictures are surer than that, the reading keeps it. The confidences become
    those given that limit: what is taken from a piece that cannot be there goes to its other candidates.

    >>> sure, doubtful = (Candidate("3m", 0.99),), (Candidate("3m", 0.5), Candidate("2m", 0.4))
    >>> five = [sure, sure, sure, sure, doubtful]
    >>> [ranked[0].piece for ranked in legal_choice(five)]
    ['3m', '3m', '3m', '3m', '2m']
    """
    if not candidates:
        return []
    chances = [_faces(by_kind(ranked)) for ranked in candidates]
    kinds = sorted(set().union(*chances))
    limits = {kind: max(0, copies_of(kind, copies) - (used or {}).get(kind, 0)) for kind in kinds}
    start = [max(c, key=lambda kind: c[kind]) for c in chances]
    held = Counter(start)
    if all(held[kind] <= limits[kind] for kind in kinds):
        return [tuple(ranked) for ranked in candidates]
    chosen = _flow(chances, start, limits, -math.log(extra_odds))
    weights = [dict(c) for c in chances]
    for kind in kinds:
        if held[kind] > limits[kind]:
            believed = _given_limit([c.get(kind, 0.0) for c in chances], limits[kind], extra_odds)
            for weight, old, share in zip(weights, chances, believed, strict=True):
                if kind in old:
                    rest = sum(old.values()) - old[kind]
                    scale = (1 - share) / rest if rest > 1e-9 else 0.0
                    for other in weight:
                        weight[other] = share if other == kind else weight[other] * scale
    return [
        tuple(sorted(_rescaled(ranked, old, new), key=lambda c: (plays_as(c.piece) != kind, -c.confidence)))
        for ranked, old, new, kind in zip(candidates, chances, weights, chosen, strict=True)
    ]


def _faces(chances: Mapping[str, float]) -> Mapping[str, float]:
    """Probabilities by kind without those of lying face down, if there are others."""
    return {kind: chance for kind, chance in chances.items() if kind != BACK} or chances


def _rescaled(
    ranked: Iterable[Candidate], old: Mapping[str, float], new: Mapping[str, float]
) -> list[Candidate]:
    """Candidates whose probability by kind went from `old` to `new`."""
    return [
        Candidate(c.piece, c.confidence * new[kind] / max(old[kind], 1e-9)) if kind in new else c
        for c in ranked
        for kind in (plays_as(c.piece),)
    ]


def _flow(
    chances: Sequence[Mapping[str, float]], start: Sequence[str], limits: Mapping[str, int], extra_cost: float
) -> list[str]:
    """The cheapest assignment of pieces to kinds within the limits (min-cost flow, exact).

    It begins with every piece at its best kind, which is optimal but for the limits, and then moves one piece
    too many after the other along the cheapest chain of exchanges; that keeps it optimal. A chain may end
    where there is room, or at any kind for `extra_cost`.
    """
    chosen = list(start)
    kinds = sorted(limits)
    settled: Counter[str] = Counter()  # pieces above the limit that are paid for
    while True:
        held = Counter(chosen)
        over = [kind for kind in kinds if held[kind] - settled[kind] > limits[kind]]
        if not over:
            return chosen
        move: dict[tuple[str, str], tuple[float, int]] = {}
        for p, c in enumerate(chances):
            here = chosen[p]
            for kind, chance in c.items():
                if kind != here and chance > 0:
                    cost = math.log(max(c[here], 1e-12)) - math.log(chance)
                    if cost < move.get((here, kind), (math.inf, 0))[0]:
                        move[here, kind] = (cost, p)
        source = over[0]
        cost_to = {source: 0.0}
        via: dict[str, tuple[str, int]] = {}
        for _ in kinds:
            changed = False
            for (a, b), (cost, p) in move.items():
                if a in cost_to and cost_to[a] + cost < cost_to.get(b, math.inf) - 1e-9:
                    cost_to[b], via[b], changed = cost_to[a] + cost, (a, p), True
            if not changed:
                break
        price = {
            kind: cost + (extra_cost if held[kind] >= limits[kind] else 0.0) for kind, cost in cost_to.items()
        }
        end = min(price, key=lambda kind: price[kind])
        settled[end] += held[end] >= limits[end]
        while end != source:
            end_from, p = via[end]
            chosen[p] = end
            end = end_from


def _given_limit(chances: Sequence[float], limit: int, extra_odds: float) -> list[float]:
    """Probability of each piece to be of a kind, when each one above `limit` is only `extra_odds` times as
    probable."""

    def total(values: Sequence[float], shift: int) -> float:
        counts = np.array([1.0])
        for p in values:
            counts = np.convolve(counts, [1 - p, p])
        held = np.arange(len(counts)) + shift
        return float(np.sum(counts * extra_odds ** np.maximum(held - limit, 0)))

    result = []
    for k, p in enumerate(chances):
        others = [*chances[:k], *chances[k + 1 :]]
        yes, no = p * total(others, 1), (1 - p) * total(others, 0)
        result.append(yes / (yes + no) if yes + no > 0 else 0.0)
    return result


def by_kind(candidates: Iterable[Candidate]) -> dict[str, float]:
    """Probability by kind, a red five being a five."""
    chances: dict[str, float] = defaultdict(float)
    for c in candidates:
        chances[plays_as(c.piece)] += c.confidence
    return dict(chances)


@lru_cache(maxsize=256)
def plays_as(name: str) -> str:
    return name if name == BACK else str(Piece.parse(name).plays_as)


@lru_cache(maxsize=1024)
def copies_of(name: str, copies: int) -> int:
    """How many of a piece there are: what is expected, but a piece that the deck holds once is there once."""
    if name == BACK:
        return 10_000
    piece = Piece.parse(name)
    in_deck = DECKS[piece.deck].copies(piece)
    return 1 if in_deck == 1 else copies
