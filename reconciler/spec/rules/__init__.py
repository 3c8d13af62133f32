"""The service's rules, checked offline on the typed spec (api-facts, "Rules that the service enforces").

A rule is a small generator in the module of its subject; its id is stable, its place is a path from the document's
root. `docs/rules.md` is printed from the same registry.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.spec.findings import Problem
from reconciler.spec.model import Desired
from reconciler.spec.rules import capacity, lifecycle, naming, pools, references, scripts, slurm, storage
from reconciler.spec.rules.rule import Rule, Subject

RULES: tuple[Rule, ...] = tuple(
    value
    for module in (naming, references, pools, capacity, storage, slurm, scripts, lifecycle)
    for value in vars(module).values()
    if isinstance(value, Rule)
)


def check(desired: Desired) -> Iterator[Problem]:
    """What the service would refuse, and what people most likely didn't mean.

    Of a cluster whose state is absent only the name and the lifecycle are looked at.
    """
    subject = Subject.of(desired)
    for rule in RULES:
        for hit in rule.check(subject):
            yield Problem(hit.path, rule.id, hit.message, hit.hint, rule.severity, hit.place, rule.is_local)
