"""Shards: every cluster in just one, for ever the same; and how an engine's task finds out which is its own."""

from __future__ import annotations

from collections import Counter

import pytest

from reconciler.plan.shard import Shard, parse
from reconciler.spec.names import ClusterName

NAMES = [ClusterName(f"p{number % 3}", "us-central1", f"c{number}") for number in range(3000)]


def shard_of(name: ClusterName, count: int) -> int:
    """The one shard that has it."""
    (index,) = [index for index in range(1, count + 1) if Shard(index, count).has(name)]
    return index


@pytest.mark.parametrize("count", [1, 2, 7])
def test_every_cluster_is_in_one_shard(count: int) -> None:
    """None is left out, none is done twice; and the shards are about as large as each other."""
    sizes = Counter(shard_of(name, count) for name in NAMES)
    assert sizes.total() == len(NAMES)
    assert all(abs(size - len(NAMES) / count) < 0.2 * len(NAMES) / count for size in sizes.values())


def test_shards_stay_what_they_are() -> None:
    """A new version of the tool or of Python moves no cluster: plans of different machines must fit together."""
    names = [ClusterName("acme-ml", "us-central1", cluster) for cluster in ("a4train", "cpudev", "flexh100")]
    assert [[shard_of(name, count) for count in (2, 3, 10, 97)] for name in names] == [
        [2, 1, 2, 76],
        [1, 2, 3, 90],
        [1, 2, 1, 84],
    ]


def test_the_whole_name_counts() -> None:
    """Clusters of one id in many projects or locations aren't all in one shard."""
    assert len({shard_of(ClusterName(f"p{number}", "us-east4", "main"), 4) for number in range(30)}) == 4
    assert len({shard_of(ClusterName("p", f"region{number}", "main"), 4) for number in range(30)}) == 4


@pytest.mark.parametrize(("text", "shard"), [("1/1", (1, 1)), ("2/5", (2, 5)), ("5/5", (5, 5))])
def test_read_as_people_count(text: str, shard: tuple[int, int]) -> None:
    """From one, up to the number of shards; and said again in the same way."""
    assert parse(text, {}) == Shard(*shard)
    assert str(parse(text, {})) == text


@pytest.mark.parametrize("text", ["", "0/3", "4/3", "-1/3", "1/0", "1", "a/b", "1/2/3", " 1/2", "1/2\n", "١/٢", "Auto"])
def test_what_is_no_shard(text: str) -> None:
    """Whatever isn't I/N with 1 <= I <= N is refused, with an example of what is."""
    with pytest.raises(ValueError, match=r"no shard: I/N with 1 <= I <= N, such as 2/5, or auto"):
        parse(text, {})


@pytest.mark.parametrize(
    ("environment", "shard"),
    [
        ({"CLOUD_RUN_TASK_INDEX": "0", "CLOUD_RUN_TASK_COUNT": "10"}, "1/10"),
        ({"CLOUD_RUN_TASK_INDEX": "9", "CLOUD_RUN_TASK_COUNT": "10"}, "10/10"),
        ({"JOB_COMPLETION_INDEX": "3", "JOB_COMPLETION_COUNT": "8"}, "4/8"),
        ({"RECONCILER_SHARD_INDEX": "1", "RECONCILER_SHARD_COUNT": "2"}, "2/2"),
        (
            {
                "RECONCILER_SHARD_INDEX": "0",
                "RECONCILER_SHARD_COUNT": "2",
                "CLOUD_RUN_TASK_INDEX": "5",
                "CLOUD_RUN_TASK_COUNT": "6",
            },
            "1/2",
        ),
    ],
)
def test_auto(environment: dict[str, str], shard: str) -> None:
    """Engines count their tasks from 0; our own variables come before an engine's."""
    assert str(parse("auto", environment)) == shard


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "no task's number in the environment; it looks for RECONCILER_SHARD_INDEX and RECONCILER_SHARD_COUNT, "),
        ({"JOB_COMPLETION_INDEX": "3"}, "JOB_COMPLETION_COUNT isn't set; JOB_COMPLETION_INDEX and "),
        ({"CLOUD_RUN_TASK_COUNT": "3"}, "CLOUD_RUN_TASK_INDEX isn't set"),
        ({"CLOUD_RUN_TASK_INDEX": "x", "CLOUD_RUN_TASK_COUNT": "3"}, 'CLOUD_RUN_TASK_INDEX is "x", which is no number'),
        ({"CLOUD_RUN_TASK_INDEX": "3", "CLOUD_RUN_TASK_COUNT": "3"}, "indexes count from 0"),
    ],
)
def test_auto_that_finds_nothing_or_nonsense(environment: dict[str, str], message: str) -> None:
    """No guess: a task that took the wrong part, or the whole, would do others' work."""
    with pytest.raises(ValueError, match=message):
        parse("auto", environment)
