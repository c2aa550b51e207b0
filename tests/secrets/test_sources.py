"""What the source may not do: draw from another generator than its own, print values, unpickle what is not its own.

Every exception is listed by file with its reason. A new one has to be argued for here.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import lookalike

SOURCE = Path(lookalike.__file__).parent

OTHER_GENERATORS = {
    "algorithms/mondrian.py": "ties between cuts; 256 bits of its seed come from the stream of the release",
    "pipeline/parts/slices.py": "records dealt to parts, by workers that must agree; keyed by a child of the stream",
    "attacks/minimality/__init__.py": "an attacker's dealings: they are scored, nothing of them is published",
    "evaluation/evaluate.py": "which queries a report asks; seeded from a child of the stream",
    "metrics/query_error.py": "which queries comparisons and trade-offs ask, the same for every method",
    "algorithms/groups/linear_programs.py": "prices drawn once, the same for every table: they choose among plans",
    "audit/order/sorting.py": "which records the test for sorted rows looks at; it publishes nothing",
    "audit/order/input_order.py": "which records the test for row order looks at; it publishes nothing",
    "pipeline/series/placing.py": "who makes room when people are placed in an earlier release; it publishes nothing",
    "evaluation/advise/trials.py": "which records trial runs see; advice stays with the steward",
    "evaluation/advise/advice.py": "which row of each person the advice looks at; it stays with the steward",
    "data/person_columns.py": "which rows are compared to see whether a column says whose they are; refusals only",
    "evaluation/inspect/persons.py": "which rows are compared to propose a person column; it stays with the steward",
    "pipeline/backends/local.py": "which repeating values are looked at to refuse them; nothing is published",
    "apps/samples/drawing.py": "made-up people, by a seed that is no secret",
    "apps/papers/datasets.py": "the papers' experiments",
    "apps/papers/experiments.py": "the papers' experiments",
    "apps/papers/bl/doubts.py": "the papers' experiments",
    "apps/papers/bl/guarantees.py": "the papers' experiments",
    "apps/papers/ff/losses.py": "the papers' experiments",
    "apps/papers/gb/losses.py": "the papers' experiments",
    "apps/papers/gb/search.py": "the papers' experiments",
    "apps/papers/gb/times.py": "the papers' experiments",
    "apps/papers/hg/privacy.py": "the papers' experiments",
    "apps/papers/ma/closeness.py": "the papers' experiments",
    "apps/papers/ma/worlds.py": "the papers' experiments",
}
UNPICKLED = {
    "evaluation/compare/processes.py": "what our own child process and we say through a pipe that nobody else has",
    "pipeline/parts/publish.py": "summaries and audits that our own work returned through the back end",
}
ONLY_PICKLED = {"pipeline/parts/verify.py"}
"""What they hand on is read by `pipeline/parts/publish.py`."""
LOGGED = {
    "apps/studio/app.py": "the kind of a fault",
    "apps/studio/security.py": "the kind of a fault",
    "apps/studio/work.py": "the kind of a fault",
    "analysis/sql.py": "silences the parser, which would log the query",
}
OPERATING_SYSTEM = {
    "randomness.py": "the key of the stream",
    "pipeline/series/people.py": "the key of the digests in a ledger",
    "files/releases/parts.py": "names of files that are not kept",
    "files/databases/write.py": "names of tables that are not kept",
    "apps/studio/results.py": "names of files that are not kept",
    "apps/studio/serving.py": "the token of a studio",
    "apps/studio/workspace.py": "names of projects, which only their studio knows",
}


# Files without any of these words cannot do any of it, and parsing all takes seconds.
_OF_INTEREST = re.compile(
    r"\brandom\.|numpy\.random|urandom|SystemRandom|tempfile|getpass|gethostname|getfqdn|platform\.|\bpwd\.|getlogin|uname\("
    r"|(import|from) (random|secrets|uuid|pickle|logging|dill|joblib|shelve|marshal|traceback|time|socket)\b"
    r"|cloudpickle|\b(eval|exec|compile|p?print)\(|yaml\.|std(out|err)\.write|\.(now|utcnow|today)\(|np\.load"
)
Called = tuple[str, ast.Call, str]


@cache
def walked() -> tuple[list[Called], list[tuple[str, str]]]:
    """Every call in the source, as file, call and dotted name, and every import, as file and module."""
    called: list[Called] = []
    imports: list[tuple[str, str]] = []
    paths = sorted(SOURCE.rglob("*.py"))
    assert len(paths) > 300
    for path in paths:
        file, text = path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")
        if not _OF_INTEREST.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                called.append((file, node, dotted(node.func)))
            elif isinstance(node, ast.Import):
                imports += [(file, one.name) for one in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imports += [(file, f"{node.module}.{one.name}") for one in node.names]
    return called, imports


def dotted(node: ast.expr) -> str:
    """
    >>> dotted(ast.parse("a.b(1).c", mode="eval").body)
    'a.b().c'
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return f"{dotted(node.func)}()" if isinstance(node, ast.Call) else "?"


def calls(pattern: str) -> list[Called]:
    """Calls of functions whose dotted name matches."""
    wanted = re.compile(pattern)
    return [one for one in walked()[0] if wanted.fullmatch(one[2])]


def callers(pattern: str) -> set[str]:
    return {file for file, _, _ in calls(pattern)}


def importers(module: str) -> set[str]:
    """Files that import a module or something of it."""
    return {file for file, name in walked()[1] if name == module or name.startswith(f"{module}.")}


def test_functions_are_called_by_their_full_names() -> None:
    """Otherwise the tests below would not see them."""
    modules = ("numpy", "pickle", "secrets", "tempfile", "time", "logging", "socket", "traceback", "yaml")
    bare = {name for _, name in walked()[1] if name.partition(".")[0] in modules and "." in name}
    assert {name for name in bare if not name.startswith("numpy.typing")} == set()


def test_nothing_draws_from_a_generator_that_can_be_guessed() -> None:
    assert importers("random") == set()
    assert importers("numpy.random") == set()
    drawing = calls(r"(np|numpy)\.random\.\w+")
    assert {file for file, _, _ in drawing} == set(OTHER_GENERATORS)
    for file, call, name in drawing:
        assert name.rpartition(".")[2] in ("default_rng", "Generator", "Philox"), (
            f"{file}: {name} has a state that all share"
        )
        assert call.args or call.keywords, f"{file}:{call.lineno} seeds itself: a run could not be repeated"
    for file, call, _ in drawing:
        if file.startswith(("algorithms/", "pipeline/parts/")) and "_DRAWN_ONCE" not in ast.unparse(call):
            assert re.search(r"(rng|secret)\b.*\.words\(", ast.unparse(call)), (
                f"{file}:{call.lineno} is not seeded by the stream"
            )


def test_the_operating_system_is_asked_in_few_places() -> None:
    assert importers("secrets") == set(OPERATING_SYSTEM)
    assert importers("uuid") == set()
    assert callers(r"os\.urandom|.*\.SystemRandom") == set()


def test_kernels_draw_nothing() -> None:
    """Numba has its own generators, one a thread, that no stream of ours seeds."""
    assert not any(file.startswith("kernels/") for file in callers(r".*\brandom\b.*"))


def test_only_what_we_pickled_ourselves_is_unpickled() -> None:
    for module in ("dill", "cloudpickle", "joblib", "shelve", "marshal"):
        assert importers(module) == set()
    assert importers("pickle") == set(UNPICKLED) | ONLY_PICKLED
    assert callers(r"pickle\.(load|loads|Unpickler)") == set(UNPICKLED)
    for path in ONLY_PICKLED:
        assert not re.search(r"\b(loads?|Unpickler)\b", (SOURCE / path).read_text(encoding="utf-8")), path
    # No file of a disk, and nothing that a user names.
    for file, call, _ in calls(r"pickle\.loads?"):
        assert ast.unparse(call.args[0]) in ("process.stdout", "given", "result", "one"), f"{file}:{call.lineno}"
    assert callers(r"eval|exec|compile|yaml\.(unsafe_load|full_load)") == set()
    texts = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    loaders = set(re.findall(r"yaml\.(\w*Loader)", texts))
    assert loaders == {"BaseLoader", "SafeLoader"}, "which make texts, numbers, dates and lists, and nothing else"
    readers = [call for _, call, _ in calls(r"(np|numpy)\.load")]
    assert all("allow_pickle=True" not in ast.unparse(call) for call in readers)


def test_nothing_is_printed_and_what_is_logged_holds_no_value() -> None:
    assert callers(r"print|pprint|sys\.std(out|err)\.write") == {"apps/samples/__init__.py"}, "which makes up people"
    assert importers("logging") == set(LOGGED)
    said = [ast.unparse(call) for _, call, _ in calls(r"logging\.getLogger\(\)\.\w+")]
    assert len(said) >= 3
    for sentence in said:
        assert re.search(r"\.error\('(run|request) failed: %s', type\(error\)\.__name__\)$", sentence)
    assert callers(r"traceback\.\w+") == {"apps/cli/exits.py", "data/guests.py"}
    found = {name for _, _, name in calls(r"traceback\.\w+")}
    assert found == {"traceback.print_tb", "traceback.extract_tb"}, "files and lines; a message could quote a value"


def test_no_file_asks_who_and_where_it_is() -> None:
    asked = r"(getpass|socket|platform)\.(getuser|gethostname|getfqdn|node|uname)|os\.(getlogin|uname)|pwd\.\w+"
    assert callers(asked) == set()
    # Days are written; times of the day are not asked for.
    assert [
        file for file, _, _ in calls(r".*datetime\.(now|utcnow|today)|time\.(time|time_ns|strftime|localtime|gmtime)")
    ] == []


@pytest.mark.parametrize("call", ["mktemp", "NamedTemporaryFile", "TemporaryFile", "mkstemp"])
def test_temporary_files_lie_in_closed_folders_or_have_no_name(call: str) -> None:
    """`mkdtemp` and `TemporaryDirectory` make folders of mode 0700 whatever the umask."""
    allowed = {"TemporaryFile": {"pipeline/backends/spark_sessions.py"}}
    assert callers(rf"tempfile\.{call}") == allowed.get(call, set())
