"""What the sentence of a promise depends on besides the promise, and how the sentence is put together.

The words are in the catalogue (`lookalike.words`). A model says which message it promises and fills it in; who the
attacker is, what is known and what a release of this form adds is said here, for every model alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.parameters import number_text
from lookalike.data.person_settings import Unit
from lookalike.errors import quoted
from lookalike.words import ENGLISH, Catalogue, catalogue

if TYPE_CHECKING:
    from lookalike.data.contracts import Promise

_MOST_NAMED = 5
"""Up to how many columns a sentence names; of more, one fewer, and how many more there are."""
_MOST_WORDS, _LONGEST_NAME = 3, 30
"""A longer name is put in quotes, so that nobody takes it for a part of the sentence."""
_LONGEST_QUOTED = 40
"""More of a name is not shown: a sentence may have several."""
_OF_NOUN = {"a": "a", "whose": "whose", "that": "that", "noun": "one", "nouns": "other"}
"""Placeholders that the word for a person fills in, and which of its messages does."""
_JOINING = {"and", "or", "also", "everybody", "release"}
"""Words of the sentences themselves; a name with one of them is put in quotes too."""


@dataclass(frozen=True, kw_only=True)
class Wording:
    """Who a promise is about, which attacker it holds against, in a release of which form, and in which language.

    >>> from dataclasses import replace
    >>> wording = Wording(form="grouped", known=("age", "sex", "zip code"))
    >>> print(wording.sentence("can be at most 25 % sure of any value of diagnosis"))
    Someone who already knows a person's age, sex and zip code can be at most 25 % sure of any value of diagnosis.
    >>> print(replace(wording, unit=Unit("household"), known=()).sentence("learns nothing"))
    Someone who already knows quasi-identifiers from one row of a household learns nothing.
    """

    form: str | None = None
    """The form of the release; None: not decided, and the sentence is true of every form that the model accepts."""
    adversary: str = READS_RELEASE
    known: Sequence[str] = ()
    """The quasi-identifiers by name; empty: they are not named."""
    also: Sequence[str] = ()
    """Carried columns that the attacker knows besides."""
    unit: Unit | None = None
    """What is counted where it may have several rows; None: every row is a person."""
    language: str = ENGLISH
    version: str | None = None
    """The version of lookalike whose words these are; None: this one."""

    @property
    def _catalogue(self) -> Catalogue:
        return catalogue(self.language, self.version)

    def say(self, key: str, count: int | None = None, /, **given: object) -> str:
        """A message of the catalogue; the words for the person and the known columns are filled in as well."""
        messages = self._catalogue
        for name in messages.placeholders(key) - given.keys():
            if name == "known":
                given["known"] = self.describe_known()
            elif name in _OF_NOUN:
                noun = "person" if self.unit is None else self.unit.noun
                word = "any" if name == "that" and self.adversary == KNOWS_METHOD else _OF_NOUN[name]
                given[name] = messages.say(f"nouns.{noun}.{word}")
        return messages.say(key, count, **given)

    def choose(self, texts: Mapping[str, str], **given: object) -> str:
        """For models outside of the catalogue: the text of this language, else the English one, filled in.

        >>> Wording(language="de").choose({"en": "at most {share}", "de": "hoechstens {share}"}, share="5 %")
        'hoechstens 5 %'
        """
        return texts.get(self.language, texts[ENGLISH]).format_map(given)

    def sentence(self, promised: str) -> str:
        """The whole sentence; `promised` follows who the attacker is: "can be at most 25 % sure of ..."."""
        if self.unit is None:
            place = self.form if self.form in ("matched", "perturbed") else "any"
            key = "sentence.matched" if self.form == "matched" else "sentence.any"
        else:
            place, key = "all_rows" if self.unit.known == "all rows" else "one_row", "sentence.one_row"
        adversary = self.adversary if self._catalogue.has(f"reader.{self.adversary}.any") else READS_RELEASE
        return self.say(key, reader=self.say(f"reader.{adversary}.{place}"), promised=promised)

    def tell(self, promises: Iterable[Promise]) -> tuple[str, ...]:
        """A sentence per promise; columns that are promised the same are in one sentence."""
        alike: dict[str, list[Promise]] = {}
        for promise in promises:
            alike.setdefault(str(promise.model), []).append(promise)
        said = []
        for first, *others in alike.values():
            sentence = first.sentence(self)
            columns = [self.name(other.column) for other in others]
            said.append(
                self.say("sentence.alike", sentence=sentence, columns=self._list(columns)) if others else sentence
            )
        return tuple(said)

    def describe_adversary(self) -> str:
        """What the attacker knows, after "someone who".

        >>> print(Wording(adversary="reads-release", known=("age", "sex")).describe_adversary())
        reads the release and knows age and sex of a person
        """
        key = f"adversary.{self.adversary}"
        if not self._catalogue.has(key):
            # Of a folder that states another one; its audit says so.
            return self.adversary
        return self.say(key, known=self.describe_known(unnamed="adversary.every"))

    def describe_known(self, *, unnamed: str = "names.unnamed") -> str:
        """The columns that the attacker knows: the first few by name, and how many more there are."""
        named = list(map(self.name, self.known))
        if len(named) > _MOST_NAMED:
            n_more = len(named) - _MOST_NAMED + 1
            named = [*named[: _MOST_NAMED - 1], self._catalogue.say("names.further", n_more)]
        said = self._list(named) if named else self._catalogue.say(unnamed)
        if not self.also:
            return said
        return self._catalogue.say("names.also", names=said, also=self._list(list(map(self.name, self.also))))

    def _list(self, names: Sequence[str]) -> str:
        if len(names) == 1:
            return names[0]
        before = self._catalogue.say("names.between").join(names[:-1])
        return self._catalogue.say("names.last", names=before, last=names[-1])

    def name(self, column: str | None) -> str:
        """A column in a sentence: as it is where it reads like a name, else in quotes; None: the sensitive column.

        >>> print(Wording().name("zip code"), Wording().name("income, yearly"), Wording().name(None))
        zip code "income, yearly" the sensitive column
        """
        if column is None:
            return self._catalogue.say("names.no_column")
        if _reads_like_a_name(column):
            return self._catalogue.say("names.plain", name=column)
        said = quoted(column)[1:-1]
        if len(said) > _LONGEST_QUOTED and self.version is None:
            said = f"{said[: _LONGEST_QUOTED - 3]}..."
        return self._catalogue.say("names.quoted", name=said)

    def number(self, value: Fraction) -> str:
        """An exact number: a decimal if it has an end, else a fraction."""
        return number_text(value).replace(".", self._catalogue.say("numbers.decimal"))

    def rounded(self, value: float) -> str:
        """A number with three digits."""
        return f"{value:.3g}".replace(".", self._catalogue.say("numbers.decimal"))

    def percent(self, share: Fraction, *, at_least: bool = False) -> str:
        """A share in per cent with at most two decimals, rounded so that "at most" (or "at least") stays true.

        >>> Wording().percent(Fraction(1, 3)), Wording().percent(Fraction(1, 3), at_least=True)
        ('33.34 %', '33.33 %')
        """
        rounded = math.floor(share * 10_000) if at_least else math.ceil(share * 10_000)
        return self._catalogue.say("numbers.percent", number=self.number(Fraction(rounded, 100)))

    def hiding(self, k: int) -> str:
        """What it means to be one of k in a release of that form."""
        if self.unit is None:
            return self._say_others(k)
        if self.unit.known == "all rows":
            return self.say("hidden.all_rows", k, k=f"{k:,}")
        return self.say("hidden.bucket" if self.form == "bucketized" else "hidden.group", k)

    def _say_others(self, k: int) -> str:
        if self.form in ("grouped", "matched"):
            return self.say(f"hidden.{self.form}", k - 1, k=f"{k:,}")
        return self.say("hidden.any", k, k=f"{k:,}")

    def with_exact_points(self, hidden: str) -> str:
        """What a release in buckets adds: its quasi-identifiers are published as they are."""
        if self.form != "bucketized":
            return hidden
        return self.say("hidden.exact_points", hidden=hidden, known=self.describe_known(unnamed="names.the_unnamed"))

    def values(self, column: str | None, listed: Sequence[str] | None = None) -> str:
        """Which values of a column are meant: any, or those that a model lists."""
        name = self.name(column)
        if listed is None:
            return self.say("values.all", column=name)
        return self.say("values.listed", len(listed), column=name)

    @property
    def share(self) -> str:
        """How frequent a value is.

        >>> Wording().share, Wording(unit=Unit()).share
        ('its share in the whole table', 'the share of people in the whole table with it')
        """
        return self.say("share.rows" if self.unit is None else "share.units")


ANY_RELEASE = Wording()
"""Of a release that is not made yet: no form, no names, the weakest attacker."""


def _reads_like_a_name(column: str) -> bool:
    """
    >>> [_reads_like_a_name(name) for name in ("zip_code", "year of birth", "age and sex", "a,b", "")]
    [True, True, False, False, False]
    """
    words = column.split(" ")
    if len(words) > _MOST_WORDS or len(column) > _LONGEST_NAME or _JOINING & {word.casefold() for word in words}:
        return False
    return column[:1].isalpha() and all(word and all(_is_of_name(letter) for letter in word) for word in words)


def _is_of_name(letter: str) -> bool:
    return letter.isalnum() or letter in "_-."
