"""The table of Slurm parameters: names, places, and what their values may be."""

from __future__ import annotations

import pytest

from reconciler.spec.slurm_parameters import Parameter, Record, parameter, records, suggestion
from tests.unit.spec.rule_cases import slurm_names


def test_every_name_is_known_in_any_spelling() -> None:
    """Names are compared without case and underscores; the answer has Slurm's own spelling."""
    assert all(slurm_names().values())
    for record, names in slurm_names().items():
        for name in names:
            for spelling in (name, name.upper(), "_".join(name)):
                found = parameter(record, spelling)
                assert found is not None
                assert found.name.lower() == name.lower()


def test_types_of_all_versions_count() -> None:
    """Prolog is a string in one version and an array in another."""
    found = parameter(Record.CLUSTER, "prolog")
    assert found is not None
    assert found.types == {"string", "array"}


def test_records_that_know_a_name() -> None:
    """A name may be several records', or none's."""
    assert records("DefMemPerCPU") == (Record.CLUSTER, Record.PARTITION)
    assert records("weight") == (Record.NODE,)
    assert records("Zzz") == ()
    assert parameter(Record.CLUSTER, "Weight") is None


@pytest.mark.parametrize(
    ("name", "hint"),
    [("max_mem_per_cup", 'did you mean "MaxMemPerCPU"?'), ("Zzz", ""), ("", "")],
)
def test_suggestions(name: str, hint: str) -> None:
    """The nearest name, as Slurm spells it."""
    assert suggestion(Record.PARTITION, name) == hint


# Each tried out with Slurm 22.05.8's own parser.
READ = {
    "uint16": ["0", "5", "65535", "INFINITE", "infinite", "UNLIMITED", "0x10", "010", "+5", "5 ", '"5"', "00"],
    "uint32": ["4294967295", "4K", "4k", "UNLIMITED"],
    "uint64": ["18446744073709551615", "INFINITE", "4K"],
    "boolean": ["yes", "YES", "no", "true", "FALSE", "1", "0", "UP", "down"],
    "string": ["", "anything", "1 2"],
    "array": ["anything"],
}
UNREAD = {
    "uint16": ["65536", "UNLIM", "-1", "4K", "4G", "5x", "5.0", "1e3", "YES", "", "08", "1" * 5000, "0x", "٣"],
    "uint32": ["4294967296", "18446744073709551615", "-1", "4G", "4M", "yes", "4194304K"],
    "uint64": ["18446744073709551616", "-1", "4G", "4GB", "4M", "4T", "4.5G", "yes"],
    "boolean": ["on", "off", "2", "y", "n", "t", "enabled", ""],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in READ.items() for text in texts])
def test_values_that_slurm_reads(kind: str, text: str) -> None:
    """A false error would be worse than a miss."""
    assert Parameter("X", frozenset({kind})).reads(text)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in UNREAD.items() for text in texts])
def test_values_that_slurm_refuses(kind: str, text: str) -> None:
    """These end in "Unable to process configuration file"."""
    assert not Parameter("X", frozenset({kind})).reads(text)


def test_a_value_is_good_if_some_version_reads_it() -> None:
    """Types may differ from version to version."""
    assert Parameter("X", frozenset({"uint16", "string"})).reads("words")
