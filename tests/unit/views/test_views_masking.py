"""Secrets in scripts don't reach comments."""

from __future__ import annotations

from typing import Any

import view_samples as samples

from reconciler.plan.model import Change
from reconciler.spec.fields import Impact
from reconciler.views.markdown import plan_markdown
from reconciler.views.masking import masked

# Made up at run time, so that no scanner takes this file for one that holds secrets.
OLD, NEW = "Zx9" * 5, "Qw7" * 5


def login(secret: str) -> str:
    """A line of a script that holds a secret as it shouldn't."""
    return f"export DB_PASSWORD={secret}"


def change(before: Any, after: Any) -> Change:
    """A change of a prolog."""
    return samples.change(f"{samples.SLURM}.prolog_bash_scripts[0]", before, after)


def test_a_changed_secret_is_masked_and_still_a_change() -> None:
    """The markers tell the sides apart, the secrets are gone."""
    shown = masked(change(login(OLD), login(NEW)))
    assert (shown.before, shown.after) == (login("[masked before]"), login("[masked after]"))


def test_an_unchanged_secret_makes_no_difference() -> None:
    """A secret that stands on both sides looks the same on both, so its line is no change."""
    shown = masked(change(f"{login(OLD)}\na", f"{login(OLD)}\nb"))
    assert (shown.before, shown.after) == (f"{login('[masked]')}\na", f"{login('[masked]')}\nb")


def test_a_new_secret_is_masked_beside_an_old_one() -> None:
    """Each place is looked at by itself."""
    shown = masked(change(login(OLD), f"{login(OLD)}\n{login(NEW)}"))
    assert shown.after == f"{login('[masked]')}\n{login('[masked after]')}"


def test_secrets_inside_items_are_masked() -> None:
    """A new pool's startup script is a script too."""
    shown = masked(change(None, {"id": "p", "startup_script": login(NEW), "counts": [1]}))
    assert shown.after == {"id": "p", "startup_script": login("[masked after]"), "counts": [1]}


def test_what_has_no_secrets_is_left_alone() -> None:
    """Nothing is copied for the many changes without."""
    plain = change("echo a", 4)
    assert masked(plain) is plain


def test_markdown_is_masked() -> None:
    """Neither the details nor the list of removals shows a secret, at any length."""
    cluster = samples.update(
        "a",
        change(login(OLD), login(NEW)),
        samples.change("node_pools[p].startup_script", None, login(NEW), Impact.RECREATES_NODES),
    )
    for limit in (None, 65_000, 3_000):
        text = plan_markdown(samples.plan_of(cluster), limit=limit)
        assert OLD not in text
        assert NEW not in text
        assert "masked" in text
