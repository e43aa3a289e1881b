"""The recipe of the models is complete and in order."""

import re

from models.training.recipe import ROOT, STEPS, Step


def test_every_step_needs_only_what_was_made_before_it() -> None:
    made: set[str] = set()
    for step in STEPS:
        module, *arguments = step.command.split()
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), step
        assert set(step.needs) <= made, step
        # What it reads is made by the steps it needs, or by those that they need.
        needed = _all_needed(step.needs)
        reads = re.findall(r"--(?:rendered|foreign|start|quads) (\S+)", step.command)
        reads += [each for each in arguments if each.endswith(".pt") and f"--out {each}" not in step.command]
        for each in reads:
            assert any(f"--out {each}" in s.command or f"make_scenes {each}" in s.command for s in needed), (
                step,
                each,
            )
        made.add(step.name)


def _all_needed(names: tuple[str, ...]) -> list[Step]:
    steps = [step for step in STEPS if step.name in names]
    return steps + [deeper for step in steps for deeper in _all_needed(step.needs)]
