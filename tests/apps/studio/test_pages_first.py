"""The pages that load a table, describe its columns and choose a promise, and what they ask of the API."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike.apps.samples import sample_schema
from lookalike.apps.studio import workspace as workspaces
from lookalike.apps.studio.app import create_app
from lookalike.apps.studio.columns import N_BARS, clip_text, histogram
from lookalike.apps.studio.jobs import Jobs
from lookalike.data.microdata import Column
from lookalike.data.schema import ValueType
from lookalike.models import MODELS
from lookalike.models.shared.model import example_of

with warnings.catch_warnings():
    # It recommends another package than the one that everybody has.
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

HOSTILE = '<script>alert("1")</script>'
HOSTILE_CELL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with pytest.MonkeyPatch.context() as patch:
        # Nothing is run here, so the process for it need not start.
        patch.setattr(Jobs, "_start_pipe", lambda self: None)
        with TestClient(create_app()) as client:
            yield client


@pytest.fixture(scope="module")
def opened(client: TestClient) -> str:
    id: str = client.post("/api/projects/sample").json()["id"]
    return id


@pytest.fixture
def sample(client: TestClient, opened: str) -> str:
    """The sample as it is when it is opened: reading it again would take longer."""
    client.put(f"/api/projects/{opened}/schema", json={"yaml": sample_schema().read_text(encoding="utf-8")})
    client.put(f"/api/projects/{opened}/promise", json={"models": []})
    return opened


@pytest.fixture(scope="module")
def hostile(client: TestClient) -> Iterator[str]:
    rows = [f'{20 + n % 9},"{HOSTILE_CELL}{n % 3}",{"abc"[n % 3]},=1+{n % 4}' for n in range(36)]
    quoted = HOSTILE.replace('"', '""')
    body = "\n".join([f'age,"{quoted}",illness,"it\'s {{{{ 7*7 }}}}"', *rows]).encode()
    made = client.post("/api/projects/upload", params={"name": f"../{HOSTILE}.csv"}, content=body)
    assert made.status_code == 201
    yield made.json()["id"]
    client.delete(f"/api/projects/{made.json()['id']}")


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        return [own for name, own in self.elements if name == tag and attributes.items() <= own.items()]


def page(client: TestClient, path: str) -> Page:
    reply = client.get(path)
    assert reply.status_code == 200, reply.text
    return Page(reply.text)


def columns_of(client: TestClient, id: str) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in client.get(f"/api/projects/{id}/columns").json()["columns"]}


def put(client: TestClient, id: str, name: str, **changed: Any) -> Any:
    now = columns_of(client, id)[name]
    kept = {key: now[key] for key in ("name", "role", "kind", "weight", "taxonomy")}
    return client.put(f"/api/projects/{id}/columns", json={"columns": [{**kept, **changed}]})


@pytest.mark.parametrize("path", ["/", "/projects/{}/columns", "/projects/{}/promise"])
def test_pages_have_labels_and_nothing_inline(client: TestClient, hostile: str, path: str) -> None:
    found = page(client, path.format(hostile))
    labelled = {label["for"] for label in found.all("label") if "for" in label}
    fields = [own for tag in ("input", "select", "textarea") for own in found.all(tag)]
    assert fields
    for own in fields:
        assert own.get("aria-label") or own["id"] in labelled, own
    ids = [own["id"] for _, own in found.elements if "id" in own]
    assert len(ids) == len(set(ids))
    described = {
        word
        for _, own in found.elements
        for key in ("aria-labelledby", "aria-describedby")
        for word in own.get(key, "").split()
    }
    assert described <= set(ids)
    for tag, own in found.elements:
        assert tag not in ("style", "img", "iframe")
        assert not any(name == "style" or name.startswith("on") for name in own), own
    assert all(script["src"].startswith("/static/") for script in found.all("script"))
    assert len(found.all("h1")) == 1
    for picture in found.all("svg"):
        assert picture.get("aria-hidden") == "true" or (picture["role"] == "img" and picture["aria-label"])


def test_names_and_cells_are_text(client: TestClient, hostile: str) -> None:
    shown = page(client, f"/projects/{hostile}/columns")
    assert HOSTILE in [row["data-column"] for row in shown.all("tr") if "data-column" in row]
    assert HOSTILE in shown.text
    assert HOSTILE_CELL in shown.text
    assert "it's {{ 7*7 }}" in shown.text
    assert f"{HOSTILE.partition('/')[2]}.csv" in page(client, "/").text


def test_the_first_page_lists_what_is_open(client: TestClient) -> None:
    sample = client.post("/api/projects/sample").json()["id"]
    found = page(client, "/")
    assert {"href": f"/projects/{sample}/columns"} in found.all("a")
    assert found.all("li", **{"data-open": sample})
    assert found.all("input", type="file")[0]["id"] == "file"
    client.delete(f"/api/projects/{sample}")
    assert not page(client, "/").all("li", **{"data-open": sample})
    assert client.get(f"/projects/{sample}/columns").status_code == 404


def test_columns_show_roles_reasons_and_histograms(client: TestClient, sample: str) -> None:
    found = page(client, f"/projects/{sample}/columns")
    rows = {row["data-column"]: row for row in found.all("tr") if "data-column" in row}
    assert rows["diagnosis"]["data-role"] == "sensitive"
    assert rows["patient_id"]["data-role"] == "identifier"
    assert len(found.all("svg", role="img")) == len(rows)
    assert "From 0 to 98; most rows lie between" in str(found.all("svg"))
    assert '"diagnosis" in its name' in found.text
    assert not found.all("button", name="take")
    put(client, sample, "sex", role="carried")
    again = page(client, f"/projects/{sample}/columns")
    assert [button["value"] for button in again.all("button", name="take")] == ["quasi-identifier"]


def test_how_identifying_follows_the_roles(client: TestClient, sample: str) -> None:
    before = client.get(f"/api/projects/{sample}/columns").json()["unique"]
    assert before > 900
    for name in ("admission_date", "zip code", "occupation"):
        put(client, sample, name, role="identifier")
    after = client.get(f"/api/projects/{sample}/columns").json()
    assert after["unique"] < 50
    assert f"{after['unique']} of 1,000 rows" in page(client, f"/projects/{sample}/columns").text
    for name in ("age", "sex"):
        put(client, sample, name, role="identifier")
    assert "Mark at least one" in page(client, f"/projects/{sample}/columns").text
    assert not page(client, f"/projects/{sample}/promise").all("input")


def test_a_refused_change_changes_nothing(client: TestClient, sample: str) -> None:
    before = columns_of(client, sample)
    reply = put(client, sample, "sex", kind="numeric")
    assert reply.status_code == 422
    assert "categorical" in reply.json()["error"]
    assert put(client, sample, "age", taxonomy={"intervals": [10, 25]}).status_code == 422
    assert '"sensitive"' in put(client, sample, "sex", role="sensitve").json()["error"]
    assert '"ordered"' in put(client, sample, "sex", kind="orderd").json()["error"]
    assert columns_of(client, sample) == before


def test_a_column_that_the_schema_leaves_out_can_be_given_a_role(client: TestClient, sample: str) -> None:
    text = "columns: [{name: age, role: quasi-identifier}]"
    assert client.put(f"/api/projects/{sample}/schema", json={"yaml": text}).status_code == 200
    found = page(client, f"/projects/{sample}/columns")
    assert {"value": "", "selected": ""} in found.all("option")
    assert put(client, sample, "sex", role="sensitive").status_code == 200
    assert client.get(f"/api/projects/{sample}").json()["sensitive"] == ["sex"]
    unknown = {"columns": [{"name": "agee", "role": "carried"}]}
    assert '"age"' in client.put(f"/api/projects/{sample}/columns", json=unknown).json()["error"]


def test_an_order_is_kept_until_the_kind_changes(client: TestClient, sample: str) -> None:
    assert put(client, sample, "sex", kind="ordered", order=["male", "female"]).status_code == 200
    assert columns_of(client, sample)["sex"]["order"] == ["male", "female"]
    put(client, sample, "sex", role="carried")
    assert columns_of(client, sample)["sex"]["order"] == ["male", "female"]
    assert put(client, sample, "sex", order=["male"]).status_code == 422
    put(client, sample, "sex", kind="categorical")
    assert columns_of(client, sample)["sex"]["order"] is None


def test_typed_groups_are_understood_shown_and_used(client: TestClient, sample: str) -> None:
    where = f"/api/projects/{sample}/taxonomy"
    found = client.post(where, json={"column": "age", "form": "intervals", "text": "10,50"}).json()
    assert found["taxonomy"] == {"intervals": [10, 50]}
    assert found["text"] == "10, 50"
    assert [level["groups"] for level in found["levels"]] == [10, 2, 1]
    assert put(client, sample, "age", taxonomy=found["taxonomy"], kind="categorical").status_code == 200
    assert "Grouped by intervals: 10, 50" in page(client, f"/projects/{sample}/columns").text
    begun = client.post(where, json={"column": "sex", "form": "tree"}).json()
    assert begun["text"] == "any sex\n  female\n  male"
    for wrong in (
        {"column": "age", "form": "dates", "text": "month"},
        {"column": "age", "form": "tree", "text": "any\n  1"},
    ):
        reply = client.post(where, json=wrong)
        assert reply.status_code == 422
        assert '"age"' in reply.json()["error"]


def test_a_promise_survives_what_it_still_fits(client: TestClient, sample: str) -> None:
    models = {"models": ["beta-likeness:3", "k-anonymity:5"]}
    assert client.put(f"/api/projects/{sample}/promise", json=models).status_code == 200
    put(client, sample, "sex", role="carried")
    shown = page(client, f"/projects/{sample}/promise")
    assert [item["data-model"] for item in shown.all("li") if "data-model" in item] == models["models"]
    put(client, sample, "diagnosis", role="carried")
    assert client.get(f"/api/projects/{sample}").json()["models"] == []
    only = page(client, f"/projects/{sample}/promise")
    assert [own["data-model"] for own in only.all("fieldset") if "data-model" in own] == ["k-anonymity"]
    put(client, sample, "diagnosis", role="sensitive")
    client.put(f"/api/projects/{sample}/promise", json=models)
    assert client.put(f"/api/projects/{sample}/promise", json={"models": []}).json()["models"] == []


def test_the_promise_page_recommends_as_inspect_does(client: TestClient, sample: str) -> None:
    shown = page(client, f"/projects/{sample}/promise")
    assert shown.all("button", name="start")
    assert "diagnosis=beta-likeness:" in shown.text
    assert "length_of_stay=" not in shown.text
    put(client, sample, "length_of_stay", role="sensitive")
    shown = page(client, f"/projects/{sample}/promise")
    assert "length_of_stay=t-closeness:0.2,distance=ordered" in shown.text
    assert "in an order" in shown.text


def test_promises_are_sliders_with_numbers_and_examples_hold(client: TestClient, sample: str) -> None:
    found = page(client, f"/projects/{sample}/promise")
    sliders = [name for name, kind in MODELS.items() if kind.slider is not None]
    assert [own["data-model"] for own in found.all("fieldset") if "data-model" in own] == sliders
    for name in sliders:
        own = found.all("input", id=f"slider-{name}")[0]
        assert float(own["min"]) <= float(own["value"]) <= float(own["max"])
        assert found.all("input", id=f"number-{name}")[0]["value"] == own["value"]
    assert not found.all("select", name="about")
    for text in map(example_of, MODELS.values()):
        allowed = client.get(f"/api/projects/{sample}/allows", params={"model": text}).json()
        assert allowed["feasible"], allowed
    refused = client.get(f"/api/projects/{sample}/allows", params={"model": "l-diversity:50"}).json()
    assert refused["nearest"] == "l-diversity:9"
    put(client, sample, "occupation", role="sensitive")
    several = page(client, f"/projects/{sample}/promise")
    assert several.all("select", name="about")
    assert {"value": "occupation"} in several.all("option")


def test_the_file_is_read_again_only_for_other_types(
    client: TestClient, sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    whole = workspaces.read_columns
    monkeypatch.setattr(workspaces, "read_columns", lambda *given, **how: read.append(given) or whole(*given, **how))
    put(client, sample, "sex", role="carried")
    client.get(f"/api/projects/{sample}/allows", params={"model": "k-anonymity:3"})
    assert not read
    text = "columns: [{name: age, role: quasi-identifier, type: string, taxonomy: {prefixes: [1]}}]"
    assert client.put(f"/api/projects/{sample}/schema", json={"yaml": text}).status_code == 200
    assert len(read) == 1


@pytest.mark.parametrize(
    ("type", "values"),
    [
        (ValueType.NUMBER, np.linspace(-1.7, 1.7, 20) * 1e308),
        (ValueType.INTEGER, np.array([np.iinfo(np.int64).min, *range(18), np.iinfo(np.int64).max])),
        (ValueType.INTEGER, np.iinfo(np.int64).max - np.arange(20)[::-1]),
        (ValueType.DATE, np.arange(19_000, 19_020)),
    ],
)
def test_histograms_of_the_widest_and_narrowest_ranges(type: ValueType, values: np.ndarray[Any, Any]) -> None:
    codes = np.array([*range(20), *range(20), 20], dtype=np.int32)
    found = histogram(Column("x", type, codes, values))
    assert len(found["bars"]) == N_BARS
    assert sum(found["bars"]) == 40
    assert found["labels"][0] in found["sentence"]
    assert found["labels"][1] in found["sentence"]


def test_histograms_of_categories_say_the_most_frequent() -> None:
    codes = np.array([0, 0, 1, 2], dtype=np.int32)
    found = histogram(Column("x", ValueType.STRING, codes, np.array(["a", "b" * 500], dtype=object)))
    assert found["bars"] == [2, 1]
    assert found["sentence"] == f"Most frequent: a (50 %), {clip_text('b' * 500, 40)} (25 %)."
    assert max(len(label) for label in found["labels"]) == 200
    empty = histogram(Column("x", ValueType.STRING, np.zeros(3, dtype=np.int32), np.array([], dtype=object)))
    assert empty["bars"] == []
    assert empty["sentence"] == "It has no values."
    names = np.array([f"n{n:02}" for n in range(30)], dtype=object)
    assert histogram(Column("x", ValueType.STRING, np.arange(30, dtype=np.int32), names))["sentence"] == (
        "Every value is different."
    )


def test_pages_need_no_more_than_their_own_scripts(client: TestClient, sample: str) -> None:
    for path in ("/", f"/projects/{sample}/columns", f"/projects/{sample}/promise"):
        for script in page(client, path).all("script"):
            text = client.get(script["src"]).text
            assert Path(script["src"]).name in ("studio.js", "load.js", "columns.js", "promise.js")
            for word in (
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "eval(",
                "document.write",
                "http://1",
                "https://",
            ):
                assert word not in text, (script, word)
