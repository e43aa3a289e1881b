"""What pydantic refused, in this project's words."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError

from companion.hand import HandError

_SAID = {
    "missing": "is missing",
    "extra_forbidden": "is no known key",
    "unexpected_keyword_argument": "is no known key",
    "string_type": "must be a text",
    "string_pattern_mismatch": "holds a character that it may not",
    "string_too_short": "must not be empty",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "mapping_type": "must be an object",
    "model_type": "must be an object",
    "dataclass_type": "must be an object",
}


Path = list[int | str]


def first_fault(
    error: ValidationError, whole: str, place: Callable[[Path], Path] = lambda path: path
) -> tuple[str, str]:
    """Message and place of the first thing that pydantic refused.

    whole: what the document is called when all of it is at fault. place: makes of pydantic's path, which
    names the alternatives of unions too, the path in the document.
    """
    fault = error.errors(include_url=False, include_input=False)[0]
    if fault["type"] == "json_invalid":
        return f"This is no JSON: {fault['ctx']['error']}.", ""
    path = place([part for part in fault["loc"] if part != "[key]"])
    where = "".join(f"[{part}]" if str(part).isdecimal() else f".{part}" for part in path).lstrip(".")
    cause = fault.get("ctx", {}).get("error")
    if isinstance(cause, HandError):
        inside = cause.within(where) if where else cause
        return inside.message, inside.where
    said = _SAID.get(fault["type"], f"is not right: {fault['msg']}")
    return f"{where or whole} {said}.", where
