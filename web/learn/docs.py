"""The rule pages as Markdown for `docs/rules`: `python -m web.learn.docs` writes them anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from companion.hand import shown
from companion.pieces import Piece
from companion.rules import RULE_SETS
from companion.rules.base import RuleSet
from web.learn.book import Example, RulePage, beside, page_of, told, verdict

DOCS = Path(__file__).parents[2] / "docs" / "rules"
PICTURES = "../../web/static"
_HEIGHTS = {"four-color": 46, "mahjong": 40}


def picture(piece: Piece) -> str:
    """A piece as it stands in Markdown."""
    card = piece.deck == "four-color"
    file = f"cards/{piece}.svg" if card else f"tiles/{piece}.webp"
    return f'<img src="{PICTURES}/{file}" height="{_HEIGHTS[piece.deck]}" alt="{piece}" title="{piece.name}">'


def _example(example: Example) -> str:
    rules = RULE_SETS[example.hand.rules]
    melds = []
    for meld in example.melds:
        name = told(meld, rules)
        name = f"**{name}**" if example.is_marked(meld) else name
        melds.append(f"{''.join(map(picture, meld.pieces))} {name}")
    lines = [example.caption, "", " &emsp; ".join(melds), ""]
    lines.append(" · ".join(filter(None, [f"**{verdict(example)}**", beside(example)])))
    result = example.result
    if result.score:
        for item in result.score.items:
            label = rules.item_names[item.name] + (f" × {item.count}" if item.count > 1 else "")
            marks = "**" if item.name in example.expect.get("items", ()) else ""
            lines.append(f"- {marks}{label}: {item.value}{marks}")
    elif result.waits:
        lines.append("")
        lines.append("Waits: " + ", ".join(f"{wait.piece} ({wait.total})" for wait in result.waits))
    return "\n".join("> " + line if line else ">" for line in lines)


def _house_rules(rules: RuleSet) -> str:
    lines = []
    for option in rules.options:
        lines += [f"**{option.label}** (`{option.name}`). {option.help}", ""]
        for choice in option.choices:
            value = shown(choice.value).strip("'")
            usual = ", unless chosen otherwise" if choice.value == option.default else ""
            lines.append(f"- `{value}`: {choice.label}{usual}")
        lines.append("")
    for name, values in rules.presets.items():
        told_values = ", ".join(f"`{key}={value}`" for key, value in values.items()) or "all as usual"
        lines.append(f"- Preset `{name}`: {told_values}")
    if rules.readings:
        lines += ["", "Where the written rules are silent or contradict themselves:", ""]
        lines += [f"- {reading}" for reading in rules.readings]
    return "\n".join(lines)


def draw(name: str, content: Any) -> str:
    """A block as Markdown."""
    if name == "example":
        return _example(content)
    if name == "pieces":
        return "\n".join(f"- {''.join(map(picture, line.pieces))} {line.text}" for line in content)
    return _house_rules(content)


def document(page: RulePage) -> str:
    """The whole file of a page."""
    note = f"<!-- Made from web/learn/pages/{page.rules.name}.md by `python -m web.learn.docs`. -->\n\n"
    return note + page.to_markdown(draw)


def main() -> None:
    DOCS.mkdir(parents=True, exist_ok=True)
    for name in RULE_SETS:
        if page := page_of(name):
            (DOCS / f"{name}.md").write_text(document(page), "utf-8")


if __name__ == "__main__":
    main()
