"""Markdown that GitHub shows as it was meant, whatever stands in scripts, and that always fits a comment."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import view_samples as samples
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reconciler.engine.results import Drift
from reconciler.plan.model import Action, Blocker, ClusterPlan, Note, Plan, PlanError
from reconciler.spec.fields import Impact
from reconciler.views.markdown import COMMENT_LIMIT, drift_markdown, plan_markdown
from reconciler.views.markdown_escape import clip, code, fence, html_code, prose
from reconciler.views.markdown_parts import shares
from reconciler.views.safe import safe

PROLOG = f"{samples.SLURM}.prolog_bash_scripts[0]"
MARKER = "<!-- reconciler:plan -->"
HOSTILE = [
    "```\n</details>\n# big",
    "`````\n@example-org/everyone\n`````",
    MARKER,
    "</details></summary><script>alert(1)</script>",
    "<img src=https://e.example/x.png onerror=1>",
    "@everyone fixes #123, GH-7 and o/r#5, see https://e.example/ and www.e.example",
    "[click](https://e.example) ![x](y) <https://e.example>",
    "a | b \\| c `d` \\",
    "**bold** _em_ ~~no~~ $x$ &lt; &#42;",
    "- list\n1. one\n> quote\n---\n| a |\n|---|",
    "\x1b[31m\u202e\u200b\ud800 \r\n\t",
    " ",
    "`",
    "",
]


class Page(HTMLParser):
    """What a browser would make of the HTML: elements, what is open, and the text outside of code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.outside = ""
        self.code = ""
        # Without the tables' extension for links: GitHub's own linking is looked for in the text.
        self.feed(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Elements open."""
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"class", "style", "href"}
        assert not (tag in ("ul", "ol") and "li" in self.open), "a list's item has become a list"
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """And close in the same order."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text in code has no effect on GitHub; other text may have."""
        if {"code", "pre"} & set(self.open):
            self.code += data
        else:
            self.outside += data

    def handle_comment(self, data: str) -> None:
        """Comments are how our own are found."""
        self.tags.add("comment")


ALLOWED = {
    *("h2", "p", "strong", "blockquote", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"),
    *("code", "pre", "details", "summary", "b"),
}


def assert_harmless(text: str) -> Page:
    """Only our own elements, all closed; nothing that pings, links or poses as a marker."""
    page = Page(text)
    assert page.open == []
    assert page.tags <= ALLOWED
    assert not re.search(r"[@#]\w|GH-\d|://|www\.", page.outside)
    assert "<!--" not in text
    return page


def hostile_plan(text: str) -> Plan:
    """A plan with the text in every place that foreign text can get to."""
    cluster = samples.update(
        "a",
        samples.change(f"labels.{text}", text, f"{text}x", reason=text),
        samples.change(f"node_pools[{text}]", None, {text: [text]}, Impact.REMOVES_NODES, reason=text),
        samples.change(PROLOG, f"echo\n{text}", f"{text}\nexit\n{text}"),
        blockers=(Blocker("immutable_field", text), Blocker(text, "b")),
        notes=(Note(text, text),),
        source=text,
    )
    named = ClusterPlan(text, text, Action.DELETE)
    noted = samples.other("n", Action.NO_OP, notes=(Note("x", text),))
    return samples.plan_of(cluster, named, noted, errors=(PlanError(text, text, text, text),))


@pytest.mark.parametrize("text", HOSTILE)
def test_foreign_text_has_no_effect(text: str) -> None:
    """Pain G76: backticks, HTML, mentions and the marker in scripts, names and messages change nothing around them."""
    full = assert_harmless(plan_markdown(hostile_plan(text), limit=None))
    assert full.tags >= {"details", "table", "pre"}
    assert_harmless(plan_markdown(hostile_plan(text), limit=2_500))
    assert_harmless(drift_markdown(Drift(hostile_plan(text), (text,))))


@given(st.text(st.sampled_from("`|\\<>&@#*_[]()!~$ \n\tab1-:/."), max_size=30))
def test_no_text_has_an_effect(text: str) -> None:
    """The same for whatever can be put together of Markdown's own characters."""
    assert_harmless(plan_markdown(hostile_plan(text), limit=None))


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"]), min_size=1))
def test_code_shows_the_text_itself(text: str) -> None:
    """A code span in a table's cell shows every character that stood in the text."""
    assume(safe(text) == text)
    page = Page(f"| a |\n|---|\n| {code(text)} |\n")
    # A browser takes the outer blanks of a cell away, and one blank at each end of a span is Markdown's own.
    assert page.code.split() == text.replace("<!--", "<!\u200b--").split()
    assert page.outside.split() == ["a"]


def test_code_of_nothing_is_nothing() -> None:
    """Two backticks alone would open a span."""
    assert code("") == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, 50% of node_pools.", "plain words, 50% of node_pools."),
        ("it's _this_ *one*", "it's &#95;this&#95; &#42;one&#42;"),
        ("@team", "@\u200bteam"),
        ("see #12 and GH-3", "see #\u200b12 and GH\u200b-3"),
        ("https://x.example", "https:\u200b//x.example"),
        ("a\nb", "a&#92;nb"),
    ],
)
def test_prose(text: str, shown: str) -> None:
    """A sentence stays readable, in the source too."""
    assert prose(text) == shown


@pytest.mark.parametrize(("inside", "ticks"), [("a", 3), ("``", 3), ("```", 4), ("x `````` y ```", 7)])
def test_fence_is_longer_than_what_is_inside(inside: str, ticks: int) -> None:
    """No line of a script can close its fence."""
    lines = fence([inside], "diff").split("\n")
    assert (lines[0], lines[-1]) == ("`" * ticks + "diff", "`" * ticks)


def test_html_code_is_escaped() -> None:
    """A summary is HTML, where Markdown's escapes mean nothing."""
    assert html_code("a<b>&\x1b") == r"<code>a&lt;b&gt;&amp;\x1b</code>"


def test_clip_says_that_there_was_more() -> None:
    """Nothing is shortened silently."""
    assert [clip("abcdef", limit) for limit in (None, 6, 4)] == ["abcdef", "abcdef", "abc…"]


def script(name: str, size: int) -> str:
    """A script of about so many bytes, not all of them ASCII."""
    line = f"echo {name} ünïcödé ```` {{}}\n"
    return "".join(line.format(number) for number in range(size // len(line.encode())))


def huge_plans() -> dict[str, Plan]:
    """Plans that no comment can hold."""
    swapped = [samples.change(PROLOG, script("old", 50_000), script("new", 50_000))]
    gone = samples.change("node_pools[old]", {"id": "old"}, None, Impact.REMOVES_NODES)
    fleet = [samples.update(f"c{i:03}", *swapped, *([gone] if i % 50 == 7 else [])) for i in range(200)]
    quiet = [samples.other(f"q{i:05}", Action.NO_OP, notes=(Note("n", "note " * 20),)) for i in range(3_000)]
    why = (Blocker("prevent_destroy", "because " * 100),)
    errors = tuple(PlanError(f"clusters.d/{i}.yaml", "api", "refused " * 200) for i in range(500))
    labels = [samples.change(f"labels.l{i}", None, "x" * 40) for i in range(5_000)]
    line = samples.change(PROLOG, None, "x" * 300_000)
    return {
        "200 clusters with 50 KB scripts": samples.plan_of(*fleet),
        "one 300 KB script": samples.plan_of(
            samples.update("big", samples.change(PROLOG, script("a", 300_000), script("b", 300_000)))
        ),
        "one line of 300 KB": samples.plan_of(samples.update("line", line)),
        "5,000 changes of one cluster": samples.plan_of(samples.update("many", *labels)),
        "3,000 deletes, all blocked": samples.plan_of(
            *(samples.other(f"d{i:04}", Action.DELETE, blockers=why) for i in range(3_000))
        ),
        "all at once": samples.plan_of(*fleet, *quiet, errors=errors),
    }


PLANS = huge_plans()


@pytest.mark.parametrize("limit", [COMMENT_LIMIT, 20_000, 5_000, 3_000])
@pytest.mark.parametrize("name", PLANS)
def test_text_is_never_over_the_limit(name: str, limit: int) -> None:
    """Pain G73: whatever the plan, characters and bytes fit, nothing stays open, and it is said what is missing."""
    plan = PLANS[name]
    text = plan_markdown(plan, limit=limit, full_text="[the run](../../actions/runs/1)")
    assert len(text) <= limit
    assert len(text.encode()) <= limit
    page = Page(text)
    assert page.open == []
    assert text.count("<details>") == text.count("</details>")
    assert f"{plan.summary.update} to update" in page.outside
    assert "Shortened to fit; left out: " in page.outside
    assert "The full text is in [the run](../../actions/runs/1)." in text


def test_removals_stand_above_everything_else() -> None:
    """Pain G101: of 200 changed clusters the four that lose a pool are named before any table or detail."""
    text = plan_markdown(PLANS["200 clusters with 50 KB scripts"])
    top = text[: text.index("| Cluster |")]
    assert re.findall(r"/c(\d{3})`: `node_pools\[old\]` removed, \*\*removes nodes\*\*", top) == [
        "007",
        "057",
        "107",
        "157",
    ]
    assert "Removes or recreates: 4" in top


def test_table_keeps_a_row_for_each_of_200_clusters() -> None:
    """Where details have no room, every cluster's counts are still there."""
    text = plan_markdown(PLANS["200 clusters with 50 KB scripts"])
    assert len(re.findall(r"^\| `acme-ml", text, re.MULTILINE)) == 200


def test_long_diff_loses_its_middle() -> None:
    """The beginning and the end of a script say most, and how much is missing is said between."""
    text = plan_markdown(PLANS["one 300 KB script"])
    assert "-echo a ünïcödé ```` 0\n" in text
    last = script("b", 300_000).rstrip().rpartition("\n")[2]
    assert f"+{last}\n" in text
    assert re.search(r"^@@ [\d,]{5,} lines left out @@$", text, re.MULTILINE)


def test_totals_of_what_is_too_much_to_list_stay() -> None:
    """Even when removals and blockers can't all be named, their number is."""
    text = plan_markdown(PLANS["3,000 deletes, all blocked"], limit=5_000)
    assert "Removes or recreates: 3,000" in text
    assert "Blocked, apply refuses: 3,000" in text
    assert re.search(r"> - and 2,\d{3} more", text)


def test_unchanged_clusters_go_first() -> None:
    """What doesn't change is the first thing to be left out, and is counted."""
    quiet = [samples.other(f"q{i}", Action.NO_OP) for i in range(50)]
    plan = samples.plan_of(samples.update("a", samples.change("labels.a", "1", "2")), *quiet)
    everything = plan_markdown(plan)
    assert "50 clusters unchanged" in everything
    shorter = plan_markdown(plan, limit=len(everything) - 100)
    assert "q7" not in shorter
    assert "names of unchanged clusters (50)" in shorter
    assert "`labels.a`" in shorter


def test_without_a_limit_nothing_is_left_out() -> None:
    """`--full` has every line of every script."""
    text = plan_markdown(PLANS["one 300 KB script"], limit=None)
    assert text.count("\n-echo a ") == script("a", 300_000).count("\n")
    assert "left out" not in text


def test_preface_stands_first_and_counts() -> None:
    """A comment's marker and commit are the caller's; with them it still fits."""
    preface = f"{MARKER}\nFor commit `abc`, {'x' * 2_000}"
    text = plan_markdown(PLANS["one 300 KB script"], limit=6_000, preface=preface, title="Plan for prod")
    assert text.startswith(f"{preface}\n\n## Plan for prod\n\n**Plan: 0 to create, 1 to update")
    assert len(text.encode()) <= 6_000


def test_edit_and_drift_stand_apart() -> None:
    """Pain F67: the author's change is open in the details, what would be reverted is folded and counted."""
    text = plan_markdown(samples.with_origins())
    edit = text.index("**This change makes**")
    drift = text.index("<details><summary>Live differs (would be reverted): 2 changes</summary>")
    assert edit < text.index("node_pools[cpu]") < drift < text.index("node_pools[gpu]")


def test_drift_is_limited_too() -> None:
    """An issue has the same limit as a comment."""
    drift = Drift(PLANS["all at once"], tuple(samples.name(f"stray{i}") for i in range(2_000)))
    text = drift_markdown(drift)
    assert len(text.encode()) <= COMMENT_LIMIT
    assert "Live and in no file: 2,000" in text
    assert "2000 unmanaged" in text


def test_a_create_harms_nothing() -> None:
    """Fields that can't be changed later are no warning when a cluster is made."""
    made = replace(samples.one_of_each(), clusters=samples.one_of_each().clusters[2:3])
    text = plan_markdown(made)
    assert "immutable" not in text
    assert "CAUTION" not in text
    assert "| Field | Value |" in text


@given(st.lists(st.integers(0, 1_000), max_size=20), st.integers(-10, 5_000))
def test_shares_are_fair(sizes: list[int], total: int) -> None:
    """Nobody gets more than is needed, nobody goes short while another gets more than an equal part."""
    given_out = shares(sizes, total)
    assert sum(given_out) <= max(0, total)
    assert all(got <= size for got, size in zip(given_out, sizes, strict=True))
    short = [got for got, size in zip(given_out, sizes, strict=True) if got < size]
    assert all(max(given_out) - got <= 1 for got in short)
