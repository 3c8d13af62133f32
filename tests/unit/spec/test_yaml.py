"""YAML as cluster files have it: core schema of 1.2, places, merge keys, JSON, limits."""

from __future__ import annotations

import pytest

from reconciler.spec.findings import Path
from reconciler.spec.places import BrokenError, find, literal
from reconciler.spec.yamlnodes import compose
from reconciler.spec.yamlvalues import Values
from tests.unit.spec.samples import told


def values(text: str | bytes) -> tuple[object, list[str]]:
    """The value of a one-document text, and what was reported."""
    (node,) = compose(text.encode() if isinstance(text, str) else text, "f.yaml")
    findings = []
    value = Values(findings.append).of(node)
    return value, told(findings)


def value(text: str | bytes) -> object:
    result, findings = values(text)
    assert findings == []
    return result


def refusal(text: str | bytes) -> str:
    with pytest.raises(BrokenError) as caught:
        values(text)
    return told([caught.value.finding])[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((word, None) for word in ("~", "null", "Null", "NULL", "")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        ("0", 0),
        ("-12", -12),
        ("+7", 7),
        ("010", 10),
        ("0o17", 15),
        ("0xFF", 255),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("-1e3", -1000.0),
        ("12e-1", 1.2),
        *((word, word) for word in ("on", "Off", "yes", "NO", "y", "nULL", "tRUE")),
        *((word, word) for word in ("12:30:00", "4-00:00:00", "2026-12-24", "2026-12-24T08:00:00Z")),
        *((word, word) for word in ("1_000", "0b11", "0x", "0o8", "+", "-.", ".", "1e", "=", "<", "-x", "1.2.3")),
    ],
)
def test_a_plain_scalar_has_the_type_of_the_core_schema(text: str, expected: object) -> None:
    """Only what YAML 1.2's core schema calls null, boolean or number is one."""
    result = value(f"k: {text}")
    assert result == {"k": expected}
    assert type(result["k"]) is type(expected)


@pytest.mark.parametrize("text", ["'true'", '"010"', "|-\n  12", ">-\n  null"])
def test_a_quoted_or_block_scalar_is_a_string(text: str) -> None:
    """Quotes and blocks make strings, whatever they hold."""
    assert isinstance(value(f"k: {text}")["k"], str)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!!str 010", "010"),
        ("!!int 3", 3),
        ('!!int "3"', 3),
        ("!!float 3", 3.0),
        ("!!bool true", True),
        ("!!null ~", None),
        ("!!map {a: b}", {"a": "b"}),
        ("!!seq [a]", ["a"]),
    ],
)
def test_tags_of_the_core_schema_are_taken(text: str, expected: object) -> None:
    """The tags that every YAML processor knows mean what they say."""
    result = value(f"k: {text}")["k"]
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("!!python/object/apply:os.system [x]", "!!python/object/apply:os.system"),
        ("!!python/name:os.system", "!!python/name:os.system"),
        ("!x y", "!x"),
        ("!!binary aGk=", "!!binary"),
        ("!!timestamp 2026-01-01", "!!timestamp"),
        ("!!set {a}", "!!set"),
        ("!!seq {a: b}", "!!seq"),
        ("!!map [a]", "!!map"),
        ("!!map x", "!!map"),
        ("!<tag:example.com,2000:x> y", "tag:example.com,2000:x"),
        ("!<int> 5", "int"),
    ],
)
def test_any_other_tag_is_an_error(text: str, tag: str) -> None:
    """Nothing is made of a tag that isn't of the core schema, least of all a Python object."""
    _, findings = values(f"k: {text}")
    assert findings == [f"f.yaml:1:4 tag: the tag {tag} is not allowed here"]


def test_a_core_tag_must_fit_its_value() -> None:
    """A tag that contradicts its text is told, and is no exception."""
    _, findings = values("a: !!int x\nb: !!bool 1\nc: !!null x")
    assert findings == [
        'f.yaml:1:4 tag: "x" is no int, though its tag says so',
        'f.yaml:2:4 tag: "1" is no bool, though its tag says so',
        'f.yaml:3:4 tag: "x" is no null, though its tag says so',
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1e400", "1e400 is too large a number"),
        ("-1e400", "-1e400 is too large a number"),
        (".inf", ".inf is a number that JSON doesn't have"),
        ("-.Inf", "-.Inf is a number that JSON doesn't have"),
        (".nan", ".nan is a number that JSON doesn't have"),
        ("9" * 5000, "a number of 5,000 digits"),
        ("0x" + "f" * 5000, "a number of 5,002 digits"),
        ("!!float 1e400", "1e400 is too large a number"),
    ],
)
def test_a_number_that_cannot_be_sent_is_an_error(text: str, message: str) -> None:
    """Infinite and endless numbers end in a sentence with a place, not in Python's own limit."""
    assert values(f"k: {text}")[1] == [f"f.yaml:1:4 number: {message}"]


def test_keys_are_taken_by_their_text() -> None:
    """A plain key is the name that stands there, even where it looks like a number or a boolean."""
    assert value("010: a\ntrue: b\n~: c\n'quoted': d\n!!str tagged: e\n1.50: f") == {
        "010": "a",
        "true": "b",
        "~": "c",
        "quoted": "d",
        "tagged": "e",
        "1.50": "f",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("? [a]\n: b", "1:3 key: a key must be a name, not a list or a mapping"),
        ("? {a: b}\n: b", "1:3 key: a key must be a name, not a list or a mapping"),
        ("? \n: b", "1:2 key: a key is empty"),
        ("'': b", "1:1 key: a key is empty"),
        ("!!int 1: b", "1:1 key: a key has a tag"),
        ("!x a: b", "1:1 key: a key has a tag"),
    ],
)
def test_other_keys_are_errors(text: str, message: str) -> None:
    """What has no text to be a name can't be a key."""
    assert values(text)[1] == [f"f.yaml:{message}"]


def test_a_key_twice_names_both_lines() -> None:
    """Of two entries none is dropped without a word (pain point 131); all such places are told at once."""
    result, findings = values("a: 1\nb: {c: 1, c: 2}\na: 2\n'a': 3\n")
    assert result == {"a": 1, "b": {"c": 1}}
    assert findings == [
        'f.yaml:2:11 duplicate-key: the key "c" is here twice: on line 2 too',
        'f.yaml:3:1 duplicate-key: the key "a" is here twice: on line 1 too',
        'f.yaml:4:1 duplicate-key: the key "a" is here twice: on line 1 too',
    ]


def test_merge_keys_bring_in_what_is_not_there() -> None:
    """An own key overrides a merged one on purpose, wherever the `<<` stands; of several sources the first wins."""
    text = """
a: &a {x: 1, y: 1}
b: &b {y: 2, z: 2}
one: {<<: *a, x: 9}
after: {x: 9, <<: *a}
both: {<<: [*a, *b]}
chain: &chain {<<: *b, w: 3}
last: {<<: *chain}
none: {<<: , x: 1}
"""
    result = value(text)
    assert result["one"] == result["after"] == {"x": 9, "y": 1}
    assert result["both"] == {"x": 1, "y": 1, "z": 2}
    assert result["last"] == {"w": 3, "y": 2, "z": 2}
    assert result["none"] == {"x": 1}


def test_a_quoted_merge_key_is_a_key() -> None:
    """Only the plain `<<` merges."""
    assert value("'<<': {a: b}") == {"<<": {"a": "b"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<<: 5", "1:1 merge: << takes a mapping, or a list of mappings"),
        ("<<: [{a: b}, 5]", "1:1 merge: << takes a mapping, or a list of mappings"),
        ("a: &a {<<: *a}", "1:8 cycle: << merges a mapping into itself, through its anchor"),
        ("a: &a {b: {<<: *a}}", "1:11 cycle: this value holds itself, through its anchor"),
        (
            "a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a",
            '4:3 duplicate-key: the key "<<" is here twice: on line 3 too',
        ),
        ("<<: {" * 200 + "a: b" + "}" * 200, "1:506 too-deep: merged over more than 100 levels"),
        (
            "a: &a {" + ", ".join(f"k{i}: 1" for i in range(999)) + "}\nb: {<<: [" + "*a, " * 20 + "]}",
            "2:5 too-many-values: << brings in more than 10,000 keys",
        ),
    ],
)
def test_a_merge_that_cannot_be_is_refused(text: str, message: str) -> None:
    """Wrong, endless and exploding merges each end in their own sentence."""
    assert refusal(text) == f"f.yaml:{message}"


def test_a_merged_key_that_is_no_name_is_told_where_it_stands() -> None:
    """What a merge brings in is judged like what stands there itself."""
    _, findings = values("a: &a {? [x] : y}\nb: {<<: *a}")
    assert findings == ["f.yaml:1:10 key: a key must be a name, not a list or a mapping"] * 2


def test_anchors_repeat_a_value() -> None:
    """An alias stands for what its anchor marks."""
    assert value("a: &x [1, {b: c}]\nd: *x") == {"a": [1, {"b": "c"}], "d": [1, {"b": "c"}]}


def test_json_is_yaml() -> None:
    """Pasted JSON works as it is: tabs, trailing commas, no blanks, escaped slashes."""
    text = '{\n\t"a":1,\n\t"b":\t[\n\t\t"x\\/y",\n\t\ttrue,\n\t],\n\t"c": {"d": null,},\n}\n'
    assert value(text) == {"a": 1, "b": ["x/y", True], "c": {"d": None}}


def test_tab_indented_json_works_below_a_key() -> None:
    """Under a YAML key too, where libyaml by itself stumbles over a tab before a closing bracket; places stay true."""
    text = 'spec: {\n\t"a": [\n\t\t1,\n\t\t2\n\t],\n\t"b": {\n\t\t"c": true\n\t}\n\t, "d": 1\n}\n'
    assert value(text) == {"spec": {"a": [1, 2], "b": {"c": True}, "d": 1}}
    (node,) = compose(text.encode(), "f.yaml")
    assert find(node, ("spec", "d")) == ("f.yaml", 9, 4)


def test_json_may_escape_characters_as_surrogate_pairs() -> None:
    """JSON writers escape a rocket as two halves; an escaped backslash before them is left alone."""
    assert value(r'{"a": "\ud83d\ude80 \\\ud83d\ude80 \\\\ud83d"}') == {"a": "🚀 \\🚀 \\\\ud83d"}


def test_half_a_surrogate_pair_is_an_error() -> None:
    """No text may come out that UTF-8 can't carry."""
    assert refusal(r'{"a": "\ud83d"}').startswith("f.yaml:1:10 yaml: not valid YAML: found invalid Unicode character")


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    """UTF-8 with a BOM is read, and columns count without it."""
    assert value(b"\xef\xbb\xbfa: 1") == {"a": 1}
    assert refusal(b"\xef\xbb\xbfa: @b").startswith("f.yaml:1:4 ")


def test_windows_line_ends_make_no_difference() -> None:
    """A file with CR LF reads like one with LF, blocks included."""
    assert value("a: 1\r\nb: |\r\n  x\r\n  y\r\n") == {"a": 1, "b": "x\ny\n"}


LOOK = "look there and just before: brackets and quotes must be closed, and what belongs together indented alike"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "a: 1\nb:\n\tc: 1",
            "3:1 yaml: not valid YAML: found character that cannot start any token",
            "indent with spaces: YAML allows no tabs there",
        ),
        (
            "a: 1\n\tb: 1",
            "2:1 yaml: not valid YAML: found a tab character that violates indentation while scanning a plain scalar",
            "indent with spaces: YAML allows no tabs there",
        ),
        (
            "a: @b",
            "1:4 yaml: not valid YAML: found character that cannot start any token",
            "put the value in quotes",
        ),
        (
            "a: b: c",
            "1:5 yaml: not valid YAML: mapping values are not allowed in this context",
            'a value that holds ": " goes in quotes',
        ),
        (
            'spec:\n{\n"a": 1\n}',
            "3:1 yaml: not valid YAML: could not find expected ':' while scanning a simple key",
            'pasted JSON begins on the line of its key ("spec: {"), and a key ends with ":"',
        ),
        (
            "<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> main\n",
            "2:2 yaml: not valid YAML: mapping values are not allowed in this context",
            "a merge conflict was left in the file",
        ),
        (
            'a: {\n\t"b": 1\n\t}\n c',
            "3:1 yaml: not valid YAML: found a tab character that violates indentation while scanning a plain scalar",
            "indent with spaces: YAML allows no tabs there",
        ),
        (
            "a: *b",
            "1:4 yaml: not valid YAML: found undefined alias",
            "define its anchor (&) further up, or put the value in quotes",
        ),
        (
            "a: &x 1\nb: &x 2",
            "2:4 yaml: this anchor is defined a second time (first on line 1)",
            "give it a name of its own",
        ),
        (
            'a: "b',
            "1:6 yaml: not valid YAML: found unexpected end of stream while scanning a quoted scalar",
            LOOK,
        ),
        (
            "a: [1, 2",
            "2:1 yaml: not valid YAML: did not find expected ',' or ']' while parsing a flow sequence",
            LOOK,
        ),
        (
            "a: 1\n...\nb: 2",
            "3:1 yaml: not valid YAML: did not find expected <document start>",
            "begin the next document with ---",
        ),
        ("%YAML 2.0\n---\na: 1", "1:1 yaml: not valid YAML: found incompatible YAML document", LOOK),
    ],
)
def test_a_syntax_error_has_its_place_and_what_to_do(text: str, message: str, hint: str) -> None:
    """libyaml's words with file, line and column, and a hint for the mistakes that people make most."""
    with pytest.raises(BrokenError) as caught:
        compose(text.encode(), "f.yaml")
    finding = caught.value.finding
    assert told([finding])[0].partition(" (from line")[0] == f"f.yaml:{message}"
    assert finding.hint == hint


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("a: b".encode("utf-16"), "1:1 encoding: this is UTF-16, not UTF-8"),
        (b"\xfe\xff\0a", "1:1 encoding: this is UTF-16, not UTF-8"),
        ("a: b".encode("utf-16-le"), "1:2 encoding: not a text: it holds the control character U+0000"),
        (b"a: 1\nb: caf\xe9\n", "2:7 encoding: not UTF-8: incomplete UTF-8 octet sequence"),
        ("é: ".encode() + b"\xff", "1:4 encoding: not UTF-8: invalid leading UTF-8 octet"),
        (b"a: 1\nb: \x1b[31m", "2:4 encoding: not a text: it holds the control character U+001B"),
        (b"\x7fELF\0\0", "1:1 encoding: not a text: it holds the control character U+007F"),
    ],
)
def test_what_is_no_utf8_text_is_told_with_the_place(data: bytes, message: str) -> None:
    """Other encodings and binary files end in a sentence."""
    assert refusal(data) == f"f.yaml:{message}"


def test_a_cycle_is_refused() -> None:
    """A value that holds itself can't be sent."""
    assert refusal("&a [*a]") == "f.yaml:1:1 cycle: this value holds itself, through its anchor"


@pytest.mark.parametrize("text", ["[" * 101 + "]" * 101, "[" * 5000, "- " * 101 + "a", "{a: " * 101 + "}" * 101])
def test_too_deep_nesting_is_refused(text: str) -> None:
    """A hundred levels is what a document may have."""
    assert " too-deep: nested more than 100 levels deep" in refusal(text)


def test_a_hundred_levels_are_fine() -> None:
    """The limit is where it says."""
    assert value("[" * 100 + "]" * 100)


def test_exploding_anchors_are_refused() -> None:
    """Nine lines that stand for a billion values are stopped at the budget."""
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    message = "too-many-values: more than 200,000 values in one document, counting what aliases repeat"
    assert message in refusal("\n".join(lines))


def test_a_document_has_a_budget_of_values() -> None:
    """A document of hundreds of thousands of values isn't even built; several documents have a budget each."""
    assert refusal("[" + "a," * 200_001 + "]") == "f.yaml:0:0 too-many-values: a document of more than 200,000 values"
    assert len(compose(("[" + "a," * 110_000 + "]\n---\n").encode() * 2, "f.yaml")) == 3


def test_a_mapping_has_a_limit_of_keys() -> None:
    """No mapping of a cluster comes near a thousand keys."""
    text = "a:\n" + "".join(f"  k{i}: 1\n" for i in range(1001))
    assert refusal(text) == "f.yaml:2:3 too-many-values: a mapping of more than 1,000 keys"


PLACED = """\
spec:
  nodePools:
  - id: cpu
    labels: {a_b: 010}
  - &login
    id: "1"
  max_node_count: 4
  ? [odd]
  : x
"""


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ((), 1, 1),
        (("spec",), 1, 1),
        (("spec", "nodePools"), 2, 3),
        (("spec", "node_pools"), 2, 3),
        (("spec", "node_pools", 0), 3, 5),
        (("spec", "node_pools", 0, "id"), 3, 5),
        (("spec", "node_pools", 0, "labels", "a_b"), 4, 14),
        (("spec", "node_pools", 1, "id"), 6, 5),
        (("spec", "maxNodeCount"), 7, 3),
        (("spec", "missing", "below"), 1, 1),
        (("spec", "node_pools", 7), 2, 3),
        (("spec", "node_pools", "id"), 2, 3),
        (("spec", 0), 1, 1),
        (("spec", "max_node_count", "below"), 7, 3),
    ],
)
def test_a_place_is_found_by_path_in_either_spelling(path: Path, line: int, column: int) -> None:
    """Where there is no way on, the place is the last one on the way."""
    (node,) = compose(PLACED.encode(), "f.yaml")
    assert find(node, path) == ("f.yaml", line, column)


def test_the_text_of_a_plain_scalar_stays_reachable() -> None:
    """`010` is the number ten, and its text is still `010`; quoted texts and whole mappings have none."""
    (node,) = compose(PLACED.encode(), "f.yaml")
    assert literal(node, ("spec", "node_pools", 0, "labels", "a_b")) == "010"
    assert literal(node, ("spec", "node_pools", 1, "id")) is None
    assert literal(node, ("spec", "node_pools")) is None
    assert literal(node, ("spec", "missing")) is None
