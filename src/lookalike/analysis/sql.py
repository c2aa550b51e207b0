"""Counts, totals, means and quantiles in SQL, about any release.

    SELECT COUNT(*), sex WHERE age BETWEEN 30 AND 40 AND diagnosis IN ('flu', 'HIV') GROUP BY sex

A question is a conjunction of conditions, each on one column; OR joins conditions on the same column. That is what the
estimators answer, so everything else is refused rather than answered by a guess. Comparisons do not match missing
values, as everywhere in SQL.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lookalike.analysis.conditions import AllOf, AnyOf, Except, Range, StartsWith, Where
from lookalike.analysis.measuring import COUNT, MEAN, QUANTILE, TOTAL, Asked
from lookalike.errors import RecipeError, quoted, unknown_name

SUPPORTED = (
    "What is understood: SELECT figures [, columns] [FROM a name] [WHERE conditions joined by AND] "
    "[GROUP BY columns]. Figures are COUNT(*), COUNT(column), SUM(column), AVG(column), MEDIAN(column) and "
    "QUANTILE(column, 0.9). A condition is =, <>, <, <=, >, >=, [NOT] IN (...), [NOT] BETWEEN ... AND ..., "
    "LIKE 'start%', or IS [NOT] NULL; OR joins conditions on the same column."
)
_LONGEST = 100_000
_SELECT_PARTS = {"expressions", "where", "group", "from", "from_", "kind", "hint"}
_PART_NAMES = {"joins": "JOIN", "with_": "WITH", "order": "ORDER BY", "laterals": "LATERAL", "sample": "SAMPLE"}
_FIGURES: dict[type[exp.Expression], str] = {
    exp.Count: COUNT,
    exp.Sum: TOTAL,
    exp.Avg: MEAN,
    exp.Median: QUANTILE,
}
_FLIPPED: dict[type[exp.Binary], type[exp.Binary]] = {
    exp.GT: exp.LT,
    exp.LT: exp.GT,
    exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
}


@dataclass(frozen=True)
class Question:
    """What is asked: rows that satisfy the conditions, together or by combination of columns."""

    where: Where
    group_by: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = (Asked(COUNT),)


def parse(sql: str, columns: Sequence[str]) -> Question:
    """The question that a statement asks about these columns; RecipeError for any that is not understood."""
    select = _select(sql)
    reader = _Reader(columns, _table_names(select))
    group_by = tuple(reader.column(node) for node in _read_group_by(select))
    if len(set(group_by)) != len(group_by):
        raise RecipeError("GROUP BY names a column twice. Name different columns.")
    asked: list[Asked] = []
    for node in select.expressions:
        figure = reader.figure(node)
        if figure is not None:
            asked.append(figure)
        elif not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise _explain_refusal(f"SELECT cannot give {_quote_node(node)}.")
        elif reader.column(node) not in group_by:
            raise RecipeError(f"{quoted(node.name)} is selected, so it must be in GROUP BY too.")
    if not asked:
        raise _explain_refusal("SELECT needs a figure, such as COUNT(*) or AVG(column).")
    if len(set(asked)) != len(asked):
        raise _explain_refusal("SELECT asks for the same figure twice.")
    conditions: dict[str, list[Any]] = {}
    if select.args.get("where"):
        for name, wanted in map(reader.condition, _flatten(select.args["where"].this, exp.And)):
            conditions.setdefault(name, []).append(wanted)
    where = {name: parts[0] if len(parts) == 1 else AllOf(tuple(parts)) for name, parts in conditions.items()}
    return Question(where, group_by, tuple(asked))


def _select(sql: str) -> exp.Select:
    if len(sql) > _LONGEST:
        raise RecipeError(f"The question has {len(sql):,} characters, too many: {_LONGEST:,} are read. Shorten it.")
    if any("\ud800" <= character <= "\udfff" for character in sql):
        raise RecipeError("The question holds half of a character, which no value can. Write it anew, as UTF-8.")
    logger = logging.getLogger("sqlglot")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        statements = [statement for statement in sqlglot.parse(sql, read="duckdb") if statement is not None]
    except (SqlglotError, RecursionError):
        raise _explain_refusal(
            "This is not SQL that can be read. Text is in 'single' quotes. Names with spaces, and names that are "
            'words of SQL themselves (order, alter, group), are in "double" ones.'
        ) from None
    finally:
        logger.setLevel(level)
    if len(statements) != 1 or not isinstance(statements[0], exp.Select):
        raise _explain_refusal("One SELECT is needed.")
    select = statements[0]
    for part, content in select.args.items():
        if content and part not in _SELECT_PARTS:
            raise _explain_refusal(f"{_PART_NAMES.get(part, part.strip('_').upper())} is not understood.")
    if select.args.get("kind") or select.args.get("hint"):
        raise _explain_refusal("SELECT takes figures and columns only.")
    return select


def _table_names(select: exp.Select) -> set[str]:
    source = select.args.get("from_") or select.args.get("from")
    if source is None:
        return set()
    table = source.this
    plain = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    if not plain or _has_others(table, "this", "alias", "db", "catalog"):
        raise _explain_refusal("FROM takes one name: whatever it is, the release is meant.")
    return {table.name.casefold(), table.alias.casefold()} - {""}


def _read_group_by(select: exp.Select) -> list[exp.Expression]:
    group = select.args.get("group")
    if group is None:
        return []
    if _has_others(group, "expressions"):
        raise _explain_refusal("GROUP BY takes columns only.")
    return list(group.expressions)


def _has_others(node: exp.Expression, *parts: str) -> bool:
    return any(content for part, content in node.args.items() if part not in parts)


def _flatten(node: exp.Expression, joined_by: type[exp.Connector]) -> Iterator[exp.Expression]:
    """The parts of a chain of ANDs or ORs, without a step of recursion a link."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Paren):
            waiting.append(node.this)
        elif isinstance(node, joined_by):
            waiting += [node.expression, node.this]
        else:
            yield node


class _Reader:
    """Reads columns, values and conditions of one statement."""

    def __init__(self, columns: Sequence[str], table_names: Iterable[str]) -> None:
        self.columns = columns
        self.table_names = set(table_names)

    def column(self, node: exp.Expression) -> str:
        """The column that a name means: exactly that one, or the only one that differs in case alone."""
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise _explain_refusal(f"A column is needed where {_quote_node(node)} stands.")
        if node.table and (node.table.casefold() not in self.table_names or node.args.get("db")):
            raise RecipeError(f"{quoted(node.table)} is no table of this question. Write the column's name alone.")
        if node.name in self.columns:
            return node.name
        alike = [name for name in self.columns if name.casefold() == node.name.casefold()]
        if len(alike) > 1:
            names = " and ".join(map(quoted, alike))
            raise RecipeError(f"{quoted(node.name)} could be {names}. Write the name as it is, in double quotes.")
        if not alike:
            raise RecipeError(unknown_name("column", node.name, self.columns))
        return alike[0]

    def figure(self, node: exp.Expression) -> Asked | None:
        """What a function asks for; None if it is none."""
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Star) and not node.expressions:
            return Asked(COUNT)
        if isinstance(node, exp.Min | exp.Max):
            low = isinstance(node, exp.Min)
            column, extreme = node.this.sql(dialect="duckdb"), "0.01" if low else "0.99"
            raise RecipeError(
                f"{'MIN' if low else 'MAX'} is the value of one record, which a release does not tell. Ask for "
                f"QUANTILE({column}, {extreme})."
            )
        if type(node) in _FIGURES and not node.expressions:
            return Asked(_FIGURES[type(node)], self.column(node.this))
        if isinstance(node, exp.Quantile | exp.PercentileDisc):
            share = node.args.get("quantile") or node.args.get("expression")
            if not isinstance(share, exp.Literal) or share.is_string:
                raise _explain_refusal(f"{_quote_node(node)} needs a share between 0 and 1, as in QUANTILE(age, 0.9).")
            return Asked(QUANTILE, self.column(node.this), float(share.this))
        return None

    def value(self, node: exp.Expression) -> Any:
        """What a literal says. Numbers stay text: the column knows whether 01234 is a number."""
        if isinstance(node, exp.Paren):
            return self.value(node.this)
        if isinstance(node, exp.Literal):
            return str(node.this)
        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
            return f"-{node.this.this}"
        if isinstance(node, exp.Boolean):
            return "true" if node.this else "false"
        if isinstance(node, exp.Cast) and node.to.is_type("date", "timestamp", "datetime"):
            return self.value(node.this)
        if isinstance(node, exp.Null):
            raise _explain_refusal("Nothing equals NULL. Missing values are asked for with IS NULL.")
        hint = " Text is in 'single' quotes." if isinstance(node, exp.Column) else ""
        raise _explain_refusal(f"A value is needed where {_quote_node(node)} stands.{hint}")

    def condition(self, node: exp.Expression) -> tuple[str, Any]:
        """A column, and what is wanted of it."""
        if isinstance(node, exp.Paren):
            return self.condition(node.this)
        if isinstance(node, exp.And | exp.Or):
            parts = [self.condition(part) for part in _flatten(node, type(node))]
            if len({name for name, _ in parts}) > 1:
                raise _explain_refusal("OR joins conditions on different columns. Ask for them one by one.")
            wanted = tuple(wanted for _, wanted in parts)
            return parts[0][0], AllOf(wanted) if isinstance(node, exp.And) else AnyOf(wanted)
        if isinstance(node, exp.Not):
            return self._negate(node.this)
        if isinstance(node, exp.Binary) and type(node) in _FLIPPED:
            return self._comparison(node)
        if isinstance(node, exp.In) and not any(node.args.get(part) for part in ("query", "unnest", "field")):
            return self.column(node.this), [self.value(value) for value in node.expressions]
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            return self.column(node.this), Range(self.value(node.args["low"]), self.value(node.args["high"]))
        if isinstance(node, exp.Like):
            return self.column(node.this), self._prefix(node)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return self.column(node.this), None
        raise _explain_refusal(f"{_quote_node(node)} is no condition that is understood.")

    def _negate(self, node: exp.Expression) -> tuple[str, Any]:
        while isinstance(node, exp.Paren):
            node = node.this
        if not isinstance(node, exp.In | exp.Between | exp.Is):
            raise _explain_refusal("NOT is before IN, BETWEEN and NULL only.")
        name, wanted = self.condition(node)
        if wanted is None:
            return name, Range()
        if isinstance(wanted, Range):
            return name, AnyOf((Range(high=wanted.low, high_included=False), Range(wanted.high, low_included=False)))
        return name, Except(tuple(wanted))

    def _prefix(self, node: exp.Like) -> StartsWith:
        pattern = node.expression
        text = str(pattern.this) if isinstance(pattern, exp.Literal) and pattern.is_string else ""
        prefix = text.removesuffix("%")
        if prefix == text or not prefix or any(sign in prefix for sign in "%_"):
            raise _explain_refusal(
                f"LIKE takes the first characters and one % at the end, as in LIKE '80%'; {_quote_node(pattern)} is "
                "another pattern. Write = for a whole value, or IN ('...', '...') for several."
            )
        return StartsWith(prefix)

    def _comparison(self, node: exp.Binary) -> tuple[str, Any]:
        kind, left, right = type(node), node.this, node.expression
        if not isinstance(left, exp.Column):
            kind, left, right = _FLIPPED[kind], right, left
        name, value = self.column(left), self.value(right)
        if kind in (exp.EQ, exp.NEQ):
            return name, [value] if kind is exp.EQ else Except((value,))
        included = kind in (exp.LTE, exp.GTE)
        if kind in (exp.LT, exp.LTE):
            return name, Range(high=value, high_included=included)
        return name, Range(value, low_included=included)


def _quote_node(node: exp.Expression) -> str:
    return quoted(node.sql(dialect="duckdb"))


def _explain_refusal(problem: str) -> RecipeError:
    return RecipeError(f"{problem} {SUPPORTED}")
