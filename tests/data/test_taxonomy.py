"""Hierarchies: five ways to write them, one numbering of the leaves, and what is refused."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.taxonomy import MISSING, ROOT, Taxonomy, build, read_paths
from lookalike.errors import DataError, LookalikeError, SchemaError

DISEASES = {"tree": {"Any": {"Heart": ["angina", "murmur"], "Head": {"Ache": ["migraine"], "Other": ["vertigo"]}}}}


def made(spec: Mapping[str, Any], values: Sequence[Any], *, missing: bool = False) -> Taxonomy:
    return build(spec, values, [str(value) for value in values], column="c", with_missing=missing)


def path_of(tree: Taxonomy, leaf: str) -> tuple[str, ...]:
    """From a leaf up to the root, read from the parents alone."""
    node = tree.node(leaf)
    assert node is not None
    labels = []
    while node >= 0:
        labels.append(tree.labels[node])
        node = int(tree.parents[node])
    return tuple(labels)


def paths_of(tree: Taxonomy) -> list[tuple[str, ...]]:
    return [path_of(tree, leaf) for leaf in tree.leaves]


@st.composite
def paths(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Leaf-first paths of a random tree (ragged, inner nodes with one child, a root alone) in any order of lines."""
    parents = [-1]
    for node in range(1, draw(st.integers(1, 25))):
        parents.append(draw(st.integers(0, node - 1)))
    labels = draw(st.permutations([f"n{node}" for node in range(len(parents))]))
    lines = []
    for leaf in set(range(len(parents))) - set(parents):
        line, node = [], leaf
        while node >= 0:
            line.append(labels[node])
            node = parents[node]
        lines.append(tuple(line))
    return draw(st.permutations(lines))


def leaves_below(tree: Taxonomy, node: int) -> set[str]:
    return {leaf for leaf in tree.leaves if tree.labels[node] in path_of(tree, leaf)}


@given(paths())
def test_every_node_is_a_run_of_leaf_codes(lines: list[tuple[str, ...]]) -> None:
    tree = Taxonomy.from_paths(lines)
    assert sorted(paths_of(tree)) == sorted(lines)
    assert tree.n_leaves == len(tree.leaves) == len(lines)
    for node in range(len(tree.labels)):
        run = tree.leaves[int(tree.firsts[node]) : int(tree.lasts[node]) + 1]
        assert set(run) == leaves_below(tree, node)
        assert bool(tree.is_leaf[node]) == (tree.children(node).size == 0)
    assert [tree.labels[node] for node in tree.leaf_nodes] == list(tree.leaves)
    assert [tree.node(label) for label in tree.labels] == list(range(len(tree.labels)))
    assert tree.node("nobody") is None
    assert tree.parents[0] == -1
    assert np.all(tree.parents[1:] < np.arange(1, len(tree.labels)))


@given(paths())
def test_heights_are_the_longest_way_down(lines: list[tuple[str, ...]]) -> None:
    tree = Taxonomy.from_paths(lines)
    for node, label in enumerate(tree.labels):
        assert tree.heights[node] == max(line.index(label) for line in lines if label in line)


@given(paths())
def test_lowest_common_nodes_agree_with_brute_force(lines: list[tuple[str, ...]]) -> None:
    tree = Taxonomy.from_paths(lines)
    pairs = list(itertools.product(range(tree.n_leaves), repeat=2))
    for first, last in pairs:
        above = path_of(tree, tree.leaves[first])
        wanted = next(label for label in above if label in path_of(tree, tree.leaves[last]))
        assert tree.labels[tree.lowest_common(first, last)] == wanted
    ordered = [(first, last) for first, last in pairs if first <= last]
    lows, highs = (np.array(ends, dtype=np.int32) for ends in zip(*ordered, strict=True))
    assert tree.closures(lows, highs).tolist() == [tree.lowest_common(first, last) for first, last in ordered]


@given(paths())
def test_a_tree_survives_its_plain_form_and_yaml(lines: list[tuple[str, ...]]) -> None:
    tree = Taxonomy.from_paths(lines)
    spec = yaml.safe_load(yaml.safe_dump(tree.to_plain(), sort_keys=False))
    again = build(spec, tree.leaves, tree.leaves, column="c", with_missing=False)
    assert again.labels == tree.labels
    assert again.parents.tolist() == tree.parents.tolist()


def test_a_node_may_have_leaves_and_subtrees() -> None:
    tree = made({"tree": {"Any": {"lone": None, "Pair": ["a", "b"], "last": None}}}, ["a"])
    assert tree.leaves == ("lone", "a", "b", "last")
    assert tree.to_plain() == {"tree": {"Any": {"lone": None, "Pair": ["a", "b"], "last": None}}}


def test_lists_may_hold_subtrees() -> None:
    tree = made({"tree": {"Any": ["x", {"Pair": ["a", "b"]}, "y"]}}, ["x"])
    assert paths_of(tree) == [("x", "Any"), ("a", "Pair", "Any"), ("b", "Pair", "Any"), ("y", "Any")]


def test_a_root_alone_is_a_leaf() -> None:
    tree = made({"tree": {"only": None}}, ["only"])
    assert (tree.labels, tree.leaves, tree.n_leaves) == (("only",), ("only",), 1)
    assert tree.heights.tolist() == [0]
    assert tree.lowest_common(0, 0) == 0
    assert tree.to_plain() == {"tree": {"only": None}}


def test_trees_keep_all_that_is_written_in_its_order() -> None:
    tree = made(DISEASES, ["vertigo", "angina"])
    assert tree.leaves == ("angina", "murmur", "migraine", "vertigo")
    assert tree.heights[0] == 3
    assert tree.to_plain() == DISEASES


def test_a_tree_without_one_top_gets_a_root() -> None:
    tree = made({"tree": {"Heart": ["angina"], "Head": ["migraine"]}}, ["angina"])
    assert tree.labels == (ROOT, "Heart", "angina", "Head", "migraine")


def test_labels_are_texts_as_the_table_shows_them() -> None:
    spec = yaml.safe_load("tree: {Any: {either: [true, 1], other: [false, 2]}}")
    tree = build(spec, [0, 1], ["false", "1"], column="c", with_missing=False)
    assert tree.node("false") is not None
    assert "False" not in tree.labels


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"tree": ["a", "b"]}, "must be a nested mapping"),
        ({"tree": {"Any": {"Heart": "angina"}}}, "write leaves as lists"),
        ({"tree": {"Any": 3}}, "write leaves as lists"),
        ({"tree": {"Any": ["a"]}, "prefixes": [2]}, "name exactly one form. Forms: tree, file, intervals"),
        ({}, "name exactly one form"),
        ({"origin": 3}, "name exactly one form"),
        ({"prefix": [3]}, 'There is no taxonomy form "prefix". Did you mean "prefixes"?'),
    ],
)
def test_other_ways_to_write_a_tree_are_refused(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError, match='Column "c"') as caught:
        made(spec, ["a"])
    assert said in str(caught.value)


@pytest.mark.parametrize("tree", [{}, {"Any": {}}, {"Any": []}])
def test_a_tree_without_leaves_has_no_root(tree: dict[str, Any]) -> None:
    with pytest.raises(LookalikeError, match="needs one root, this one has 0"):
        made({"tree": tree}, [])


def test_values_that_the_tree_lacks_are_counted_and_not_shown() -> None:
    with pytest.raises(DataError, match="lacks 2 of the 3 values that the table has") as caught:
        made(DISEASES, ["angina", "secret", "Heart"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([("a", "R"), ("b", "S")], 'needs one root, this one has 2: "R", "S"'),
        ([("a", "R"), ("a", "R")], 'names the leaf "a" twice'),
        ([("a", "X", "R"), ("b", "X", "Y", "R")], 'uses the label "X" for two different nodes'),
        ([("a", "X", "R"), ("a", "Y", "R")], 'uses the label "a" for two different nodes'),
        ([("a", "X", "a")], 'uses the label "a" for two different nodes'),
        ([("a", "R"), ("b", "a", "R")], 'uses the label "a" for a leaf and for a node above others'),
        ([("b", "a", "R"), ("a", "R")], '"a"'),
        ([], "this one has 0"),
    ],
)
def test_lines_that_make_no_tree_are_refused(lines: list[tuple[str, ...]], said: str) -> None:
    with pytest.raises(DataError) as caught:
        Taxonomy.from_paths(lines)
    assert said in str(caught.value)


def written(folder: Path, text: str, encoding: str = "utf-8") -> dict[str, Any]:
    path = folder / "tree.csv"
    path.write_bytes(text.encode(encoding))
    return {"file": str(path)}


def test_a_file_has_one_line_a_leaf(tmp_path: Path) -> None:
    spec = written(tmp_path, "angina;Heart;Any\nmigraine;Head;Any\n\nmurmur;Heart;Any\n")
    tree = made(spec, ["murmur"])
    assert tree.leaves == ("angina", "murmur", "migraine")
    assert path_of(tree, "murmur") == ("murmur", "Heart", "Any")


@pytest.mark.parametrize(
    "text",
    ["a,X,R\r\nb,X,R\r\n", "\ufeffa;X;R\nb;X;R", ' a ; X ; R\n"b";"X";"R"\n', "a;X;R\nb;X;R\n;;\n"],
    ids=["commas", "byte order mark", "quotes and blanks", "empty line"],
)
def test_files_come_in_several_dialects(tmp_path: Path, text: str) -> None:
    tree = made(written(tmp_path, text), ["a", "b"])
    assert paths_of(tree) == [("a", "X", "R"), ("b", "X", "R")]


def test_other_tools_repeat_labels_on_several_levels(tmp_path: Path) -> None:
    tree = made(written(tmp_path, "1;0-4;0-9;*\n2;0-4;0-9;*\n7;7;0-9;*\nx;*;*;*\n"), [1, 2, 7])
    assert paths_of(tree) == [("1", "0-4", "0-9", "*"), ("2", "0-4", "0-9", "*"), ("7", "0-9", "*"), ("x", "*")]


def test_files_may_be_ragged(tmp_path: Path) -> None:
    tree = made(written(tmp_path, 'a;R\nb;X;R\n"c;d";Z;Y;R\n'), ["a", "b", "c;d"])
    assert paths_of(tree) == [("a", "R"), ("b", "X", "R"), ("c;d", "Z", "Y", "R")]
    assert tree.heights[0] == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [("a;;R\n", "entry 1: an empty label. Write leaf;parent;...;root"), ("", "is empty"), ("a,,R", "leaf,parent,...")],
)
def test_files_that_make_no_tree_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        made(written(tmp_path, text), ["a"])
    assert said in str(caught.value)
    assert "tree.csv" in str(caught.value)


def test_files_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Cannot read the taxonomy .*none\.csv: No such file"):
        read_paths(tmp_path / "none.csv")
    spec = written(tmp_path, "caf\u00e9;R", encoding="latin-1")
    with pytest.raises(DataError, match="it is not UTF-8 text"):
        made(spec, ["a"])


def test_intervals_of_whole_numbers() -> None:
    tree = made({"intervals": [10, 50]}, [-3, 0, 9, 10, 49, 50])
    assert paths_of(tree) == [
        ("-3", "[-10..-1]", "[-50..-1]", ROOT),
        ("0", "0..9", "0..49", ROOT),
        ("9", "0..9", "0..49", ROOT),
        ("10", "10..19", "0..49", ROOT),
        ("49", "40..49", "0..49", ROOT),
        ("50", "50..59", "50..99", ROOT),
    ]


def test_intervals_from_an_origin() -> None:
    assert path_of(made({"intervals": [10], "origin": 5}, [14, 15]), "14") == ("14", "5..14", ROOT)
    assert path_of(made({"intervals": 10}, [14]), "14") == ("14", "10..19", ROOT)
    assert path_of(made({"intervals": [1, 5]}, [14]), "14") == ("14", "10..14", ROOT), "a length of 1 says nothing new"


def test_intervals_of_fractions_are_half_open() -> None:
    tree = made({"intervals": [0.1, 0.3]}, [0.1, 0.3, 0.35, 0.6, 0.7])
    assert paths_of(tree) == [
        ("0.1", "[0.1, 0.2)", "[0, 0.3)", ROOT),
        ("0.3", "[0.3, 0.4)", "[0.3, 0.6)", ROOT),
        ("0.35", "[0.3, 0.4)", "[0.3, 0.6)", ROOT),
        ("0.6", "[0.6, 0.7)", "[0.6, 0.9)", ROOT),
        ("0.7", "[0.7, 0.8)", "[0.6, 0.9)", ROOT),
    ]


def test_intervals_of_numbers_beyond_floats_are_exact() -> None:
    big = (1 << 60) + 1
    low = big // 10 * 10
    assert path_of(made({"intervals": [10]}, [big]), str(big)) == (str(big), f"{low}..{low + 9}", ROOT)


@given(
    st.lists(st.decimals(-100, 100, places=2).map(float), min_size=1, unique=True).map(sorted),
    st.sampled_from([[0.1], [0.1, 0.2, 1], [0.25, 1.5], [0.3, 3], [7]]),
)
def test_intervals_hold_their_values_in_order(values: list[float], widths: list[float]) -> None:
    tree = made({"intervals": widths}, values)
    assert tree.leaves == tuple(str(value) for value in values)
    for label, first, last in zip(tree.labels[1:], tree.firsts[1:], tree.lasts[1:], strict=True):
        if label.startswith("["):
            low, high = (float(end) for end in label[1:-1].split(", "))
            assert low <= values[first]
            assert values[last] < high


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"intervals": [10, 25]}, "each interval length must be a multiple of the one before, not [10, 25]"),
        ({"intervals": [50, 10]}, "must be positive and increasing, not [50, 10]"),
        ({"intervals": [10, 10]}, "must be positive and increasing"),
        ({"intervals": [0]}, "must be positive and increasing"),
        ({"intervals": [-5]}, "must be positive and increasing"),
        ({"intervals": [float("inf")]}, "intervals and origin must be numbers"),
        ({"intervals": ["ten"]}, "intervals and origin must be numbers"),
        ({"intervals": [10], "origin": "zero"}, "intervals and origin must be numbers"),
        ({"intervals": []}, "intervals needs at least one level"),
        ({"prefixes": []}, "prefixes needs at least one level"),
        ({"prefixes": [2, 3]}, "must be whole numbers from 1, decreasing, not [2, 3]"),
        ({"prefixes": [2, 2]}, "must be whole numbers from 1, decreasing"),
        ({"prefixes": [0]}, "must be whole numbers from 1, decreasing"),
        ({"prefixes": [1.5]}, "must be whole numbers from 1, decreasing"),
        ({"dates": ["yaer"]}, 'There is no date level "yaer". Did you mean "year"?'),
        ({"dates": [["month"]]}, "There is no date level"),
        ({"dates": ["year", "month"]}, "date levels go from fine to coarse"),
        ({"dates": ["month", "month"]}, "date levels go from fine to coarse"),
        ({"dates": ["week", "year"]}, "week stands alone"),
        ({"dates": ["year"]}, "a taxonomy by dates needs a column of dates"),
    ],
)
def test_levels_that_make_no_hierarchy_are_refused(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError, match='Column "c"') as caught:
        made(spec, [1, 2])
    assert said in str(caught.value)


@pytest.mark.parametrize("values", [["one"], [datetime.date(2020, 1, 1)]])
def test_intervals_need_numbers(values: list[Any]) -> None:
    with pytest.raises(SchemaError, match="a taxonomy by intervals needs a column of numbers"):
        made({"intervals": [10]}, values)


def test_prefixes_of_texts() -> None:
    tree = made({"prefixes": [3, 2]}, ["12199", "12101", "12202", "13000", "12", "121"])
    assert paths_of(tree) == [
        ("12", ROOT),
        ("121", "12*", ROOT),
        ("12101", "121**", "12***", ROOT),
        ("12199", "121**", "12***", ROOT),
        ("12202", "122**", "12***", ROOT),
        ("13000", "130**", "13***", ROOT),
    ]


@pytest.mark.parametrize("values", [["121**", "12101"], ["*", "12101"]])
def test_values_that_look_like_prefixes_are_refused(values: list[str]) -> None:
    with pytest.raises(DataError, match="for a leaf and for a node above others"):
        made({"prefixes": [3]}, values)


def test_dates_by_their_calendar() -> None:
    days = [
        datetime.date(2019, 12, 31),
        datetime.date(2020, 1, 1),
        datetime.date(2020, 4, 9),
        datetime.date(2021, 5, 1),
    ]
    levels = ["day", "month", "quarter", "year", "decade"]
    assert paths_of(made({"dates": levels}, days)) == [
        ("2019-12-31", "2019-M12", "2019-Q4", "2019", "2010s", ROOT),
        ("2020-01-01", "2020-M01", "2020-Q1", "2020", "2020s", ROOT),
        ("2020-04-09", "2020-M04", "2020-Q2", "2020", "2020s", ROOT),
        ("2021-05-01", "2021-M05", "2021-Q2", "2021", "2020s", ROOT),
    ]


def test_weeks_follow_the_iso_calendar() -> None:
    tree = made(
        {"dates": ["week"]}, [datetime.date(2020, 12, 31), datetime.date(2021, 1, 3), datetime.date(2021, 1, 4)]
    )
    assert [path[1] for path in paths_of(tree)] == ["2020-W53", "2020-W53", "2021-W01"]


def test_moments_have_dates_too() -> None:
    moments = [datetime.datetime(2020, 1, 1, 8), datetime.datetime(2020, 1, 1, 9), datetime.datetime(2020, 2, 1)]
    tree = made({"dates": ["day", "month"]}, moments)
    assert path_of(tree, "2020-01-01 08:00:00") == ("2020-01-01 08:00:00", "2020-01-01", "2020-M01", ROOT)
    assert tree.labels[tree.lowest_common(0, 1)] == "2020-01-01"


@given(st.lists(st.dates(), min_size=1, unique=True).map(sorted), st.sampled_from([["week"], ["month", "year"]]))
def test_dates_stay_in_order(days: list[datetime.date], levels: list[str]) -> None:
    assert made({"dates": levels}, days).leaves == tuple(str(day) for day in days)


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        ({"prefixes": [3]}, []),
        (DISEASES, ["angina"]),
        ({"intervals": [10]}, [3, 30]),
        ({"prefixes": [1]}, ["ab", "cd"]),
        ({"dates": ["year"]}, [datetime.date(2020, 1, 1)]),
    ],
)
def test_missing_is_the_last_leaf_and_hangs_from_the_root(spec: dict[str, Any], values: list[Any]) -> None:
    tree = made(spec, values, missing=True)
    assert tree.leaves == (*(made(spec, values).leaves if values else ()), MISSING)
    assert path_of(tree, MISSING) == (MISSING, tree.labels[0])
