"""What every rule set tells about itself, so that commands and pages need to know none of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from companion.hand import Hand, HandError, Meld, shown
from companion.pieces import DECKS, Piece
from companion.reading import Expectation
from companion.result import Advice, Result, Score, Wait
from companion.rules.rounds import Event, Played, Transfer

Value = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Choice:
    """One value a setting may have, and what a form calls it."""

    value: Value
    label: str


@dataclass(frozen=True, slots=True)
class Setting:
    """An option or context field: what a form needs to draw it, and the values it takes.

    lasting: a fact of the game rather than of one hand, such as which cards are in it: it holds for the next
    hand too.

    >>> flag("last_tile", "Last tile", "Won on the last tile of the wall.").type
    'flag'
    """

    name: str
    label: str
    help: str
    choices: tuple[Choice, ...]
    default: Value
    lasting: bool = False

    @property
    def type(self) -> str:
        """``flag`` (true or false, a checkbox) or ``choice`` (one of `choices`)."""
        return "flag" if isinstance(self.default, bool) else "choice"

    def check(self, value: object, where: str) -> None:
        """Raises `HandError` when `value` is none of the choices; a value's type counts (1 is not true)."""
        for choice in self.choices:
            if type(choice.value) is type(value) and choice.value == value:
                return
        known = ", ".join(shown(choice.value) for choice in self.choices)
        raise HandError(f"unknown value {shown(value)}; known: {known}", where)

    def parse(self, text: str, where: str) -> Value:
        """The choice written as `text` on a command line or in a form (``4``, ``true``, ``sbr``)."""
        for choice in self.choices:
            if text in (choice.value, shown(choice.value)):
                return choice.value
        self.check(text, where)
        return text

    def to_document(self) -> dict[str, Any]:
        choices = [{"value": choice.value, "label": choice.label} for choice in self.choices]
        return {"name": self.name, "label": self.label, "help": self.help, "type": self.type,
                "choices": choices, "default": self.default, "lasting": self.lasting}  # fmt: skip


def flag(name: str, label: str, help: str) -> Setting:
    """A setting that is true or false, by default false."""
    return Setting(name, label, help, (Choice(False, "no"), Choice(True, "yes")), False)


class RuleSet(ABC):
    """One game. Attributes describe it, methods judge hands; hands reach it already checked by `check`.

    name, title: as written in documents, and for people. deck: a name in `DECKS`. unit: what scores count.
    pieces: the kinds in play, as printed in order. sizes: full sizes of a hand, kongs' extra pieces left out.
    meld_kinds: kinds that may be laid down; concealed_kinds: those of them for which it matters whether they
    are of own pieces alone. options, context: the settings; `presets` name sets of options.
    item_names: every item a score can list, with its English label. score_fields: the same for what a score
    holds beside its items. readings: how unclear written rules are read, a sentence each, where no option
    chooses.
    players: how many may sit at a table, the usual number first. events: what a round is told by (`win`,
    `kong`, `wall-end`, `draw`); draws: the ways it may end unpaid, with English labels. deal: what is settled
    when a round is dealt; seat_facts: context fields that each player names then.
    """

    name: str
    title: str
    deck: str
    unit: str
    pieces: tuple[Piece, ...]
    sizes: tuple[int, ...]
    seats: int
    players: tuple[int, ...]
    meld_kinds: tuple[str, ...]
    concealed_kinds: tuple[str, ...] = ("kong",)
    options: tuple[Setting, ...]
    context: tuple[Setting, ...]
    presets: Mapping[str, Mapping[str, Value]]
    item_names: Mapping[str, str]
    score_fields: Mapping[str, str]
    readings: tuple[str, ...] = ()
    events: tuple[str, ...] = ("win", "draw")
    draws: Mapping[str, str] = MappingProxyType({})
    deal: tuple[Setting, ...] = ()
    seat_facts: tuple[str, ...] = ()

    def copies(self, piece: Piece, options: Mapping[str, Any]) -> int:
        """How many pieces that play as `piece` are in the game under these options."""
        return DECKS[self.deck].copies(piece) if piece.plays_as in self.pieces else 0

    def settings(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Every option's value in force: the defaults, then the preset, then what was given beside it."""
        settings = dict(self._default_options)
        if "preset" in settings:
            settings.update(self.presets[options.get("preset", settings["preset"])])
        settings.update(options)
        return settings

    def facts(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """Every context field's value: the defaults, then what was given."""
        facts = dict(self._default_context)
        facts.update(context)
        return facts

    def expectation(self, options: Mapping[str, Any], context: Mapping[str, Any]) -> Expectation:
        """What a photo can show when the game is played under these options and facts, for whoever reads it.

        Of tiles nothing is said of the pieces: who photographs tiles may well play another game than the page
        thinks. To doubt honours cost 27 of them in 71 scenes and saved 7 tiles in 23.
        """
        return Expectation.of_full(self.sizes, self.deck)

    @cached_property
    def _default_options(self) -> dict[str, Any]:
        return {setting.name: setting.default for setting in self.options}

    @cached_property
    def _default_context(self) -> dict[str, Any]:
        return {setting.name: setting.default for setting in self.context}

    def check(self, hand: Hand) -> None:
        """Raises `HandError` unless the hand is well formed: deck, meld kinds, options, context."""
        named = [("concealed", hand.concealed)]
        named += [(f"melds[{index}].pieces", meld.pieces) for index, meld in enumerate(hand.melds)]
        named += [("winning.piece", (hand.winning.piece,))] if hand.winning else []
        for where, pieces in named:
            for piece in pieces:
                if piece.deck != self.deck:
                    raise HandError(f"{piece} is not a piece of the {self.deck} deck", where)
        for piece in hand.bonus:
            if piece.suit != "f":
                raise HandError(f"{piece} is no flower", "bonus")
        for index, meld in enumerate(hand.melds):
            if meld.kind not in self.meld_kinds:
                kinds = ", ".join(self.meld_kinds)
                raise HandError(
                    f"{self.name} lays down no {meld.kind}; known: {kinds}", f"melds[{index}].kind"
                )
        self.check_settings(hand.options, hand.context)
        self.check_context(hand)

    def check_settings(self, options: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        """Raises `HandError` for a name or value that the game does not know."""
        for where, given, settings in (
            ("options", options, self.options),
            ("context", context, self.context),
        ):
            by_name = {setting.name: setting for setting in settings}
            for name, value in given.items():
                if name not in by_name:
                    raise HandError(f"unknown name {shown(name)}; known: {', '.join(by_name)}", where)
                by_name[name].check(value, f"{where}.{name}")

    def check_context(self, hand: Hand) -> None:  # noqa: B027 - a game may have nothing to contradict
        """Raises `HandError` when facts in the context contradict each other or the hand."""

    @abstractmethod
    def analyse(self, hand: Hand) -> Result:
        """Everything there is to say about the hand."""

    @abstractmethod
    def is_complete(self, hand: Hand) -> bool:
        """Whether the pieces, the winning piece included, make a complete hand, allowed to win or not."""

    @abstractmethod
    def shanten(self, hand: Hand) -> int | None:
        """Pieces to exchange until ready; 0 ready, -1 complete; None when invalid or never to win."""

    @abstractmethod
    def waits(self, hand: Hand) -> tuple[Wait, ...]:
        """The pieces that complete a hand one short of full size, with their value as won by discard."""

    @abstractmethod
    def advice(self, hand: Hand) -> tuple[Advice, ...]:
        """Every discard of a full-size incomplete hand, best first."""

    @abstractmethod
    def arrangements(self, hand: Hand) -> tuple[tuple[Meld, ...], ...]:
        """Every way to stand a complete hand in melds, best first; empty when incomplete."""

    @abstractmethod
    def legal_melds(self, hand: Hand) -> tuple[Meld, ...]:
        """Every distinct meld within the concealed pieces and the winning piece."""

    @abstractmethod
    def score(self, hand: Hand) -> Score | None:
        """The score of a complete hand, None for any other."""

    # Rounds

    @abstractmethod
    def play(self, events: Sequence[Event], options: Mapping[str, Any], players: int | None = None) -> Played:
        """A round under these options, event by event; `players` says how many play, by default all seats are
        taken. Raises `HandError` (where: ``events[0]...``) for an event that cannot be."""

    def payments(
        self, events: Sequence[Event], options: Mapping[str, Any], players: int | None = None
    ) -> tuple[Transfer, ...]:
        """Every payment of a round, in order; raises the same as `play`."""
        outcomes = self.play(events, options, players).outcomes
        return tuple(transfer for outcome in outcomes for transfer in outcome.transfers)

    def describe(self) -> dict[str, Any]:
        """The rule set as JSON-ready data: what a page needs to draw its forms and name its items."""
        return {
            "name": self.name,
            "title": self.title,
            "deck": self.deck,
            "unit": self.unit,
            "pieces": [str(piece) for piece in self.pieces],
            "sizes": list(self.sizes),
            "seats": self.seats,
            "players": list(self.players),
            "events": list(self.events),
            "draws": dict(self.draws),
            "deal": [setting.to_document() for setting in self.deal],
            "seat_facts": list(self.seat_facts),
            "meld_kinds": list(self.meld_kinds),
            "concealed_kinds": list(self.concealed_kinds),
            "options": [setting.to_document() for setting in self.options],
            "context": [setting.to_document() for setting in self.context],
            "presets": {name: dict(values) for name, values in self.presets.items()},
            "items": dict(self.item_names),
            "score_fields": dict(self.score_fields),
            "readings": list(self.readings),
        }
