"""Writes the lists, tables, navigation and counts that follow from the registries: `python docs/make_indexes.py`.

A generated region is between two marks, in pages `<!-- generated: NAME -->` and `<!-- end -->`, in mkdocs.yml
`# generated: NAME` and `# end`. Everything outside is written by hand. So are some cells of the tables: they are kept,
row by row, and a new member gets `TODO` in them. `tests/docs` compares the files with `current()`.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lookalike.algorithms import ALGORITHMS, SYNTHESIZERS
from lookalike.apps.cli.exits import EXIT_CODES
from lookalike.attacks import ATTACKS
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import FORMS
from lookalike.data.schema import Schema
from lookalike.files.tables.formats import FORMATS
from lookalike.metrics import FIDELITY, METRICS, QUERIES
from lookalike.models import MODELS, describe_models, parse_model
from lookalike.pipeline.recipe import find_refusal, require, settle
from lookalike.samples import hospital

DOCS = Path(__file__).parent
ROOT = DOCS.parent
MEMBERS: dict[str, Sequence[str]] = {
    "models": list(MODELS),
    "algorithms": list(ALGORITHMS),
    "attacks": list(ATTACKS),
    "metrics": [*METRICS, *FIDELITY, *QUERIES],
}
"""What has a page, by family."""
SHARED_PAGES = {"anatomy": "bucketization", "greedy-grouping": "grouping"}
"""Pages about what several algorithms have in common, before the first of them."""
DESCRIBED_ELSEWHERE = {"privbayes"}
"""Synthesizers without their own page: docs/synthesis.md is about this one."""
TODO = "TODO"
_REGION = re.compile(
    r"^(?P<begin> *(?:<!--|#) generated: (?P<name>[a-z]+)(?: -->)?\n)(?P<text>.*?)(?P<end>^ *(?:<!--|#) end(?: -->)?$)",
    re.DOTALL | re.MULTILINE,
)


def stays(rows: int = 300) -> Microdata:
    return Microdata.encode(hospital(rows), Schema.of(qi=["age", "sex", "zip code"], sensitive=["diagnosis"]))


def served(name: str, data: Microdata) -> list[str]:
    """The models that an algorithm serves: it accepts a promise of theirs as it is usually made."""
    method = ALGORITHMS[name]()
    found = []
    for model, kind in MODELS.items():
        usual = kind.example or (kind.slider.text(model) if kind.slider else model)
        promises = settle([Promise(parse_model(usual))], data)
        requirements = require(promises, data)
        if find_refusal(method, method.adversary, promises, requirements, data.domains) is None:
            found.append(model)
    return found


def kept_cells(old: str, n_cells: int) -> dict[str, list[str]]:
    """Of a table as it is: the last cells of each row, which are written by hand, by the name in its first cell."""
    rows = [line.strip("| ").split(" | ") for line in old.splitlines() if line.startswith("| [")]
    return {row[0][1:].partition("]")[0]: row[-n_cells:] for row in rows}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return (
        "".join("| " + " | ".join(line) + " |\n" for line in lines).replace("| --- ", "|---").replace("--- |", "---|")
    )


def algorithm_table(old: str) -> str:
    written, data, rows = kept_cells(old, 1), stays(), []
    for name, kind in ALGORITHMS.items():
        models = served(name, data)
        said = "all" if len(models) == len(MODELS) else ", ".join(models)
        strongest = kind().facing(KNOWS_METHOD).adversary
        last = written.get(name, [TODO])
        rows.append([link("algorithms", name), kind().form, said, f"`{strongest}`", *last])
    return table(["method", "form", "models", "strongest adversary", "for"], rows)


def attack_table(old: str) -> str:
    written = kept_cells(old, 3)
    rows = [
        [link("attacks", name), *written.get(name, [TODO] * 3)[:2], forms_of(kind.forms)]
        for name, kind in ATTACKS.items()
    ]
    return table(["attack", "knows", "looks for", "forms"], rows)


def metric_table(old: str) -> str:
    rows = [
        [link("metrics", name), kind.title or name, forms_of(kind.forms), computed]
        for kinds, computed in ((METRICS, "every release"), (FIDELITY, "on request"), (QUERIES, "to compare methods"))
        for name, kind in kinds.items()
    ]
    return table(["metric", "what it is", "forms", "computed"], rows)


def format_table(old: str) -> str:
    rows = [[one.name, " ".join(f"`{ending}`" for ending in one.endings), one.about] for one in FORMATS.values()]
    return table(["format", "names end in", "what is read"], rows)


def forms_of(forms: frozenset[str] | None) -> str:
    """Forms of release in their usual order."""
    return "all" if forms is None else ", ".join(form for form in FORMS if form in forms)


def exit_table(old: str) -> str:
    return table(["code", "meaning"], [[str(code), meaning] for code, meaning in sorted(EXIT_CODES.items())])


def model_table(old: str) -> str:
    rows = [[link("models", row["name"]), f"`{row['letter']}`", row["meaning"]] for row in describe_models()]
    return table(["model", "level", "promise"], rows)


def link(family: str, name: str) -> str:
    return f"[{name}]({family}/{name}.md)"


def pages_of(family: str) -> list[str]:
    """The names of a family's pages, in order."""
    shared = SHARED_PAGES if family == "algorithms" else {}
    pages = [page for name in MEMBERS[family] for page in (shared.get(name), name) if page is not None]
    synthesizers = [name for name in SYNTHESIZERS if name not in DESCRIBED_ELSEWHERE]
    return pages + synthesizers if family == "algorithms" else pages


def links_of(family: str) -> Callable[[str], str]:
    def listed(old: str) -> str:
        words = ", ".join(link(family, name) for name in pages_of(family)) + "."
        return "\n".join(textwrap.wrap(words, 120, break_long_words=False, break_on_hyphens=False)) + "\n"

    return listed


def navigation_of(family: str) -> Callable[[str], str]:
    return lambda old: "".join(f"          - {family}/{name}.md\n" for name in pages_of(family))


def decisions() -> list[Path]:
    return sorted((DOCS / "decisions").glob("*.md"))


def decision_list(old: str) -> str:
    titles = [(page, page.read_text(encoding="utf-8").splitlines()[0]) for page in decisions()]
    found = [(page, *title.removeprefix("# ").split(". ", 1)) for page, title in titles]
    return "".join(f"{number}. [{title}](decisions/{page.name})\n" for page, number, title in found)


def decision_navigation(old: str) -> str:
    return "".join(f"          - decisions/{page.name}\n" for page in decisions())


def layers(old: str) -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = project["tool"]["importlinter"]["contracts"][0]["layers"]
    return "\n".join(("```text", *listed, "```", ""))


def counts(old: str) -> str:
    n_models, n_methods, n_attacks, n_metrics = (len(members) for members in MEMBERS.values())
    words = (
        f"It has {n_models} [privacy models](docs/models.md), {n_methods} [methods](docs/algorithms.md) that make "
        f"{len(FORMS)} forms of release, {n_attacks} [attacks](docs/attacks.md) that show what known "
        f"attackers achieve on a release, and {n_metrics} [metrics](docs/metrics.md)."
    )
    return "\n".join(textwrap.wrap(words, 120, break_long_words=False, break_on_hyphens=False)) + "\n"


REGIONS: dict[str, dict[str, Callable[[str], str]]] = {
    "README.md": {"counts": counts},
    "docs/map.md": {**{family: links_of(family) for family in MEMBERS}, "decisions": decision_list},
    "docs/models.md": {"models": model_table},
    "docs/algorithms.md": {"algorithms": algorithm_table},
    "docs/attacks.md": {"attacks": attack_table},
    "docs/metrics.md": {"metrics": metric_table},
    "docs/errors.md": {"exits": exit_table},
    "docs/reading.md": {"formats": format_table},
    "docs/how-it-works.md": {"layers": layers},
    "mkdocs.yml": {**{family: navigation_of(family) for family in MEMBERS}, "decisions": decision_navigation},
}


def current(file: str) -> str:
    """A file as it should be now."""
    makers, met = REGIONS[file], []

    def renewed(found: re.Match[str]) -> str:
        met.append(found["name"])
        made = makers[found["name"]](found["text"])
        # Renderers want an empty line between a comment and a list or table.
        apart = "" if file.endswith(".yml") else "\n"
        return f"{found['begin']}{apart}{made}{apart}{found['end']}"

    text = _REGION.sub(renewed, (ROOT / file).read_text(encoding="utf-8"))
    if met != list(makers):
        raise ValueError(f"{file} has the generated regions {met}, and should have {list(makers)}.")
    return text


if __name__ == "__main__":
    for name in REGIONS:
        (ROOT / name).write_text(current(name), encoding="utf-8")
