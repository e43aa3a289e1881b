"""The rule pages: Markdown in `pages/`, one file a rule set, with worked hands that the engine judges.

One source gives two books, the app's HTML and the Markdown under `docs/rules`, and neither holds a score
that was typed: a fenced block ``example`` holds a hand document, and what stands in the books is the answer
of `companion.analyse`. Its ``expect`` says what its author meant to show; a test holds it against the answer.

Beside ``example`` a page may hold the blocks ``pieces`` (lines of notation, each with what it is) and
``house-rules`` (the options, presets and readings of the rule set). A heading ``## Chow {#chow}`` can be
linked to; every item that a score can list has one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from companion import analyse
from companion.hand import Hand, Meld
from companion.pieces import Piece, format_pieces, parse_pieces
from companion.result import Result, amount
from companion.rules import RULE_SETS
from companion.rules.base import RuleSet
from companion.rules.guangshui import LEVELS

PAGES = Path(__file__).parent / "pages"

_ANCHOR = re.compile(r"^(?P<title>.*?)\s*\{#(?P<id>[\w-]+)\}$")


@dataclass(frozen=True)
class Example:
    """A worked hand: what is told about it, what its author expects of the answer (see `unmet`), and the
    melds to point out, in canonical text."""

    caption: str
    hand: Hand
    expect: Mapping[str, Any]
    marked: frozenset[str]

    @staticmethod
    def from_document(document: Mapping[str, Any], rules: str) -> Example:
        """The example of a fenced block; raises `HandError` or `KeyError` when it is not well formed."""
        marked = {format_pieces(parse_pieces(text)) for text in document.get("mark", ())}
        hand = Hand.from_document({"rules": rules, **document["hand"]})
        return Example(document["caption"], hand, document["expect"], frozenset(marked))

    @cached_property
    def result(self) -> Result:
        return analyse(self.hand)

    def unmet(self) -> list[str]:
        """What the engine answers otherwise than expected: `status`, `items` (those named), fields of the
        score, or of the result."""
        answer = self.result.to_document()
        score = answer["score"] or {}
        items = {item["name"]: item["value"] for item in score.get("items", ())}
        wrong = []
        for key, wanted in self.expect.items():
            if key == "items":
                found: Any = {name: items.get(name, 0) for name in wanted}
            elif key == "waits":
                found = format_pieces(wait.piece for wait in self.result.waits)
            else:
                found = score[key] if key in score else answer.get(key)
            if found != wanted:
                wrong.append(f"{key}: {found}, not {wanted}")
        return wrong

    @property
    def melds(self) -> tuple[Meld, ...]:
        """How the hand stands, loose pieces each as one."""
        return self.result.arrangement

    def is_marked(self, meld: Meld) -> bool:
        return format_pieces(meld.pieces) in self.marked


@dataclass(frozen=True)
class Line:
    """Pieces in a row and what they are, in Markdown."""

    pieces: tuple[Piece, ...]
    text: str


Figure = Callable[[str, Any], str]
"""Draws a block by its name (`example`, `pieces`, `house-rules`) and content, as text of the book."""


@dataclass(frozen=True)
class RulePage:
    """The page of a rule set."""

    rules: RuleSet
    source: str

    @cached_property
    def tokens(self) -> list[Token]:
        return _markdown().parse(self.source)

    @property
    def title(self) -> str:
        return next(self.tokens[at + 1].content for at, one in enumerate(self.tokens) if one.tag == "h1")

    @cached_property
    def sections(self) -> Mapping[str, str]:
        """Titles of the headings that can be linked to, by their id, in order."""
        found = {}
        for at, token in enumerate(self.tokens):
            if token.type == "heading_open" and (match := _ANCHOR.match(self.tokens[at + 1].content)):
                found[match["id"]] = match["title"]
        return found

    @cached_property
    def blocks(self) -> tuple[tuple[Token, str, Any], ...]:
        """The fenced blocks: token, name, and content (an `Example`, a tuple of `Line`, the rule set)."""
        return tuple(
            (token, token.info, self._content(token)) for token in self.tokens if token.type == "fence"
        )

    @property
    def examples(self) -> tuple[Example, ...]:
        return tuple(content for _, name, content in self.blocks if name == "example")

    def _content(self, token: Token) -> Any:
        if token.info == "example":
            return Example.from_document(json.loads(token.content), self.rules.name)
        if token.info == "pieces":
            return tuple(self._lines(token.content))
        if token.info == "house-rules":
            return self.rules
        raise ValueError(f"{self.rules.name}: there is no block {token.info!r}")

    def _lines(self, content: str) -> Iterator[Line]:
        for line in content.splitlines():
            pieces, _, text = line.partition(":")
            yield Line(parse_pieces(pieces, self.rules.deck), text.strip())

    def to_html(self, draw: Figure) -> str:
        """The page as HTML; `draw` gives the HTML of a block."""
        drawn = {id(token): draw(name, content) for token, name, content in self.blocks}
        tokens: list[Token] = []
        for token in self.tokens:
            one = token.copy()
            if id(token) in drawn:
                one.type, one.content = "html_block", drawn[id(token)]
            elif token.type == "inline" and (match := _ANCHOR.match(token.content)):
                one.children = _markdown().parseInline(match["title"])[0].children
                tokens[-1].attrSet("id", match["id"])
            tokens.append(one)
        return str(_markdown().renderer.render(tokens, _markdown().options, {}))

    def to_markdown(self, draw: Figure) -> str:
        """The page as Markdown; `draw` gives the Markdown of a block."""
        lines = self.source.splitlines()
        for token, name, content in reversed(self.blocks):
            start, end = token.map or (0, 0)
            lines[start:end] = draw(name, content).splitlines()
        for at, line in enumerate(lines):
            if line.startswith("#") and (match := _ANCHOR.match(line)):
                lines[at] = f'<a id="{match["id"]}"></a>\n\n{match["title"]}'
        return "\n".join(lines) + "\n"


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


@cache
def page_of(rules: str) -> RulePage | None:
    """The page of a rule set; None when there are no such rules, or no page tells of them."""
    file = PAGES / f"{rules}.md"
    if rules not in RULE_SETS or not file.is_file():
        return None
    return RulePage(RULE_SETS[rules], file.read_text("utf-8"))


def inline(text: str) -> str:
    """A line of Markdown as HTML."""
    return str(_markdown().renderInline(text))


def told(meld: Meld, rules: RuleSet) -> str:
    """What a meld is called under its picture."""
    own = meld.concealed and meld.kind in ("pung", "kong") and meld.kind in rules.concealed_kinds
    word = "dealt" if rules.deck == "four-color" else "concealed"
    return f"{meld.kind}, {word}" if own else meld.kind


def verdict(example: Example) -> str:
    """The answer in a line: ``Won: 41 points``, ``Ready``."""
    status, score = example.result.status, example.result.score
    if score is None:
        return "Not a hand" if status == "invalid" else status.capitalize()
    fields = RULE_SETS[example.hand.rules].score_fields
    said = "Won" if status == "won" else "Complete, but no win"
    extra = [f"{fields[name]} {_LEVELS.get(str(value), value)}" for name, value in score.extra.items()]
    return ", ".join([f"{said}: {amount(score.total, score.unit)}", *extra])


_LEVELS = {level.name: level.label for level in LEVELS}


def beside(example: Example) -> str:
    """How the hand was won, and the facts and house rules that it names."""
    told = []
    if winning := example.hand.winning:
        source = "drawn" if winning.source == "wall" else "taken from another player"
        told.append(f"won with the {winning.piece.name}, {source}")
    rules = RULE_SETS[example.hand.rules]
    labels = {setting.name: setting for setting in (*rules.context, *rules.options)}
    for name, value in {**example.hand.context, **example.hand.options}.items():
        choices = {choice.value: choice.label for choice in labels[name].choices}
        told.append(f"{labels[name].label}: {choices[value]}")
    return " · ".join(told)
