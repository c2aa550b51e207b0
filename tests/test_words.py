"""The catalogue of promises: complete, used, and ready for a second language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lookalike import words
from lookalike.data.adversary import ADVERSARIES
from lookalike.data.person_settings import Unit
from lookalike.data.release import FORMS
from lookalike.data.series_modes import STATED_MODES, describe_mode
from lookalike.data.wording import Wording
from lookalike.models import MODELS, parse_model
from lookalike.words import Catalogue, catalogue, languages

SOURCE = Path(words.__file__).parent
TEXTS = (
    "k-anonymity:3",
    "k-concealment:3",
    "alpha-k:alpha=0.5,k=3",
    "alpha-k:alpha=0.5,k=3,subset=HIV",
    "l-diversity:2",
    "l-diversity:3,kind=distinct",
    "l-diversity:3,kind=entropy",
    "l-diversity:3,kind=recursive,c=2",
    "l-diversity:4,band=50",
    "l-diversity:2,kind=binary,subset=HIV",
    "t-closeness:0.3",
    "t-closeness:0.3,distance=ordered",
    "t-closeness:0.3,distance=hierarchical",
    "t-closeness:0.3,distance=kl",
    "t-closeness:0.3,distance=js",
    "beta-likeness:2,negative=0.3",
    "delta-disclosure:1",
    "f-privacy:theta=1,base=0.2",
    "f-privacy:ceilings=HIV:0.5",
    "rho-privacy:rho1=0.4,rho2=0.9",
)
UNITS = (None, Unit(), Unit("household", "all rows"))
COLUMNS = ("AGE", "SEX", "ZIP", "RACE", "JOB", "TOWN")


def every_wording(**more: object) -> list[Wording]:
    return [
        Wording(form=form, adversary=adversary, unit=unit, known=known, also=also, **more)  # type: ignore[arg-type]
        for form in (None, *FORMS)
        for adversary in ADVERSARIES
        for unit in UNITS
        for known, also in (((), ()), (COLUMNS, ("WARD",)))
    ]


def say_everything(wording: Wording) -> list[str]:
    models = map(parse_model, TEXTS)
    promises = [model.promise(None if model.about_identity else "DIAGNOSIS", wording) for model in models]
    return [*promises, wording.describe_adversary(), *(describe_mode(mode, wording) for mode in STATED_MODES)]


def test_every_model_is_there() -> None:
    assert {text.partition(":")[0] for text in TEXTS} == set(MODELS)


@pytest.mark.parametrize("language", languages())
def test_a_language_has_every_message_with_its_placeholders(language: str) -> None:
    found, english = catalogue(language), catalogue()
    assert found.keys == english.keys
    for key in english.keys:
        assert found.placeholders(key) == english.placeholders(key), key


def test_every_message_is_used_and_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    used = set()

    class Watched(Catalogue):
        def say(self, key: str, count: int | None = None, /, **given: object) -> str:
            used.add(key)
            return super().say(key, count, **given)

    watched = Watched({key: catalogue()._messages[key] for key in catalogue().keys})
    monkeypatch.setattr("lookalike.data.wording.catalogue", lambda *_: watched)
    for wording in every_wording():
        for sentence in say_everything(wording):
            assert not re.search(r"[{}]|  | ,|\.\.|,,", sentence), sentence
    Wording().name(None)
    Wording(known=("a;b",)).tell([])
    Wording().name("a;b")
    Wording().with_exact_points("x")
    left = {key for key in watched.keys - used if not key.startswith("nouns.")} - {"sentence.alike"}
    assert left == set()


def test_no_word_of_a_promise_is_outside_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """A language of stars: whatever still reads as a word was not in the catalogue."""
    starred = {}
    for key in catalogue().keys:
        message = catalogue()._messages[key]
        texts = {"one": message, "other": message} if isinstance(message, str) else dict(message)
        starred[key] = {
            form: re.sub(r"(\{\w+\})|[A-Za-z]", lambda found: found[1] or "*", text) for form, text in texts.items()
        }
    monkeypatch.setattr("lookalike.data.wording.catalogue", lambda *_: Catalogue(starred))
    for wording in every_wording(language="xx"):
        for sentence in say_everything(wording):
            bare = re.sub("|".join((*COLUMNS, "WARD", "DIAGNOSIS")), "", sentence)
            assert not re.search(r"[a-zA-Z]", bare), sentence


def test_a_second_language_puts_words_in_its_own_order(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = dict(catalogue()._messages)
    messages["reader.reads-release.any"] = "Jemand, der {known} {whose} schon kennt,"
    messages["nouns.person.whose"] = "einer Person"
    messages["names.last"] = "{names} und {last}"
    messages["l-diversity.frequency"] = "kann sich {values} zu hoechstens {share} sicher sein"
    messages["values.all"] = "jedes Wertes von {column}"
    messages["numbers.decimal"] = ","
    monkeypatch.setattr("lookalike.data.wording.catalogue", lambda *_: Catalogue(messages))
    wording = Wording(language="de", known=("Alter", "Geschlecht"))
    assert parse_model("l-diversity:3").promise("Diagnose", wording) == (
        "Jemand, der Alter und Geschlecht einer Person schon kennt, kann sich jedes Wertes von Diagnose zu hoechstens "
        "33,34 % sicher sein."
    )


def test_earlier_words_have_what_their_promises_need() -> None:
    earlier = catalogue("en", "0.1.0")
    assert earlier.keys < catalogue().keys
    for wording in every_wording(version="0.1.0"):
        for text in TEXTS:
            model = parse_model(text)
            assert model.promise(None if model.about_identity else "DIAGNOSIS", wording).endswith(".")
    assert parse_model("l-diversity:3").promise("x", Wording(version="0.1.0", known=("age",))) == (
        "Someone who reads the release and knows a person's quasi-identifiers can be at most 33.34 % sure of any value "
        'of "x".'
    )


def test_files_hold_whole_messages_only() -> None:
    """No code in a message: names in braces, without attributes, indexes, conversions and formats."""
    for path in SOURCE.glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        for found in re.findall(r"\{[^{}\n]*\}", re.sub(r"= \{ .* \}$", "", text, flags=re.MULTILINE)):
            assert re.fullmatch(r"\{\w+\}", found), found
