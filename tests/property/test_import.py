"""Any generated live cluster, imported, plans empty."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.bench import Bench
from tests.property.strategies import joined, parts, shapes


@given(data=st.data())
@settings(max_examples=30)
def test_an_imported_cluster_plans_empty(new_bench: Callable[[], Bench], data: st.DataObject) -> None:
    """With scripts in the file or in files of their own; the file has no errors. (Case 136)"""
    bench = new_bench()
    shape = data.draw(shapes(bench.project))
    spec = joined(data.draw(parts(shape)), shape)
    extra = data.draw(st.sampled_from([{}, {"futureKnob": {"a": 1}}, {"labels": {"goog-x": "y", "on": "off"}}]))
    bench.control.put(bench.name(), spec | extra)
    more = data.draw(st.sampled_from([[], ["--extract-scripts", "clusters.d/scripts"]]))
    bench.run("import", bench.name(), "--out", "clusters.d/demo.yaml", *more).ok()
    bench.run("validate").ok()
    bench.run("plan", "--detailed-exitcode").ok()
