"""The rule sets by name: one module each, all of them a `RuleSet`.

>>> get("sichuan").deck
'mahjong'
"""

from __future__ import annotations

from companion.hand import HandError
from companion.rules.base import RuleSet
from companion.rules.fujian import FUJIAN
from companion.rules.guangshui import GUANGSHUI
from companion.rules.sichuan import SICHUAN

RULE_SETS: dict[str, RuleSet] = {rule_set.name: rule_set for rule_set in (SICHUAN, FUJIAN, GUANGSHUI)}


def get(name: str) -> RuleSet:
    """The rule set called `name`; raises `HandError` (where: ``rules``) that lists the known ones."""
    if (rule_set := RULE_SETS.get(name)) is not None:
        return rule_set
    known = f"known: {', '.join(RULE_SETS)}"
    shown = name if len(name) <= 40 else name[:37] + "..."
    raise HandError(f"there are no rules {shown!r}; {known}", "rules")
