"""The verbs on Spark: a DataFrame, wherever its rows lie. The only place that speaks Spark's language for records.

Only the DataFrame API and functions over Arrow batches are used, so a session of Spark Connect serves as well. What is
sent to the executors is local code with what it needs (codings, cuts, the secret of the release); what comes back are
counts, a sample and a summary for each part. Rows never come to the driver.

Nothing may depend on where a row lies or on how often a task was tried: sums are exact whatever their order, ranks are
by the records' own values, and the records of a part are put into an order of their own before anything is done.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms import ALGORITHMS
from lookalike.data.families import Family
from lookalike.data.microdata import Codes
from lookalike.errors import DataError, LookalikeError, MissingPart, quoted
from lookalike.metrics import METRICS
from lookalike.models import MODELS
from lookalike.pipeline.backends import THE_TABLE, Fragments, OwnerCounts, draw_keys, tally_pairs
from lookalike.pipeline.backends.spark_sessions import without_pandas_warning
from lookalike.progress import THREADS_VARIABLE as THREADS
from lookalike.randomness import Randomness

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


_MOST_VALUES = 4_000_000
"""Different values of all columns that the driver takes; more are no use in a release."""
_ROWS_SORTED_TOGETHER = 1_000_000
_SAMPLE = 50_000
_MOST_ROWS_TAKEN = 200_000
_SECONDS_BETWEEN_LOOKS = 0.5


class SparkBackend:
    """A Spark DataFrame. Fits `backends.Backend`."""

    def __init__(
        self,
        frame: DataFrame,
        *,
        is_text: bool = False,
        missing: Collection[str] = (),
        date_formats: Mapping[str, str] | None = None,
        source: str = THE_TABLE,
    ) -> None:
        self._frame = frame
        self._codes: DataFrame | None = None
        self._n_codes = 0
        self._n_rows = 0
        self.is_text, self.missing, self.source = is_text, missing, source
        self.date_formats = dict(date_formats or {})

    @property
    def names(self) -> list[str]:
        return list(self._frame.columns)

    def distinct(self, names: Sequence[str]) -> list[tuple[Any, NDArray[np.int64]]]:
        from pyspark.sql import functions as F

        plain = self._select_plain(names)
        _refuse_nested(plain, names)
        columns = plain.columns
        # One pass over the table: every column by itself, told apart by a number.
        tallied = plain.groupingSets([[name] for name in columns], *columns).agg(
            F.count("*").alias("times"), F.grouping_id(*columns).alias("which")
        )
        arrow = _ask(tallied.limit(_MOST_VALUES + 1).toArrow)
        if arrow.num_rows > _MOST_VALUES:
            raise _too_many(tallied, columns, names)
        which = arrow.column("which").to_numpy()
        found = []
        for place, column in enumerate(columns):
            mine = arrow.filter(which == _which(place, len(columns)))
            found.append((_series(mine.column(column)), mine.column("times").to_numpy().astype(np.int64)))
        self._n_rows = int(found[0][1].sum()) if found else 0
        return found

    def tally(self, name: str) -> tuple[int, int, int]:
        from pyspark.sql import functions as F

        plain = self._select_plain([name])
        (column,) = plain.columns
        times = plain.where(F.col(column).isNotNull()).groupBy(column).agg(F.count("*").alias("times"))
        sums = times.agg(F.sum("times").alias("rows"), F.count("*").alias("values"), F.max("times").alias("most"))
        arrow = _ask(sums.toArrow)
        found = [arrow.column(one)[0].as_py() or 0 for one in ("rows", "values", "most")]
        return int(found[0]), int(found[1]), int(found[2])

    def some_rows(self, key: str, n_values: int, names: Sequence[str]) -> Any:
        from pyspark.sql import functions as F

        plain = self._select_plain([key, *names])
        column, *others = plain.columns
        times = plain.where(F.col(column).isNotNull()).groupBy(column).agg(F.count("*").alias("times"))
        values = times.where(F.col("times") > 1).orderBy(F.xxhash64(column), column).limit(n_values)
        rows = plain.join(values.select(column), column, "left_semi").limit(_MOST_ROWS_TAKEN)
        arrow = _ask(rows.select(*others).toArrow)
        series = [_series(arrow.column(place)).alias(name) for place, name in enumerate(names)]
        return series[0].to_frame().with_columns(series[1:])

    def encode(self, names: Sequence[str], coding: Callable[[Sequence[Any]], Codes]) -> None:
        def coded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                codes = coding([_series(column) for column in batch.columns])
                yield _batch({f"c{place}": np.ascontiguousarray(column) for place, column in enumerate(codes.T)})

        self._n_codes = len(names)
        self._codes = self._select_plain(names).mapInArrow(coded, _schema(self._n_codes)).persist()

    def sample(self, n_rows: int, rng: Randomness) -> Codes:
        share = min(1.0, n_rows / max(self._n_rows, 1))
        # Which rows come is not part of the secret: whatever the sample, the cuts are checked on all records.
        drawn = self._coded.sample(fraction=share, seed=int(rng.integers(1 << 31, 1)[0]))
        return _matrix(_ask(drawn.toArrow))

    def count(self, keys: Callable[[Codes], NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        from pyspark.sql import functions as F

        def tallied(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                found, times = np.unique(keys(_matrix(batch)), return_counts=True)
                yield _batch({"key": found, "times": times.astype(np.int64)})

        sums = self._coded.mapInArrow(tallied, "key long, times long").groupBy("key").agg(F.sum("times").alias("times"))
        arrow = _ask(sums.toArrow)
        found, times = (arrow.column(name).to_numpy().astype(np.int64) for name in ("key", "times"))
        order = np.argsort(found)
        return found[order], times[order]

    def count_owners(self, keys: Callable[[Codes], tuple[NDArray[np.int64], NDArray[np.int64]]]) -> OwnerCounts:
        from pyspark.sql import functions as F

        def tallied(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                found, owners, times = tally_pairs(*keys(_matrix(batch)))
                yield _batch({"key": found, "owner": owners, "times": times})

        seen = self._coded.mapInArrow(tallied, "key long, owner long, times long")
        by_owner = seen.groupBy("key", "owner").agg(F.sum("times").alias("times"))
        sums = by_owner.groupBy("key").agg(
            F.sum("times").alias("records"), F.count("*").alias("owners"), F.max("times").alias("most")
        )
        arrow = _ask(sums.orderBy("key").toArrow)
        names = ("key", "records", "owners", "most")
        return OwnerCounts(*(arrow.column(name).to_numpy().astype(np.int64) for name in names))

    def keep(self, owner: int, most: int, secret: Randomness, n_codes: int) -> None:
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        before, columns = self._coded, self._coded.columns

        def keyed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                copies = batch.column("copy").to_numpy().astype(np.int64)
                # A copy of the secret begins its stream anew, for every batch.
                drawn = draw_keys(_matrix(batch.select(columns)), copies, secret.child("keys"))
                yield _batch({name: batch.column(name) for name in (*columns, "copy")} | {"key": drawn})

        copies = F.row_number().over(Window.partitionBy(*columns).orderBy(*columns)).cast("long") - 1
        drawn = before.withColumn("copy", copies).mapInArrow(keyed, f"{_schema(self._n_codes)}, copy long, key long")
        own = Window.partitionBy(columns[owner]).orderBy("key", *columns, "copy")
        kept = drawn.withColumn("rank", F.row_number().over(own)).where(F.col("rank") <= most)
        self._codes = kept.select(*columns[:n_codes]).persist()
        self._n_codes = n_codes
        self._n_rows = int(_ask(self._codes.count))
        before.unpersist()

    def map(self, work: Callable[[int, Codes], bytes], fragments: Fragments, watch: Callable[[], None]) -> list[bytes]:
        _send_guests(self._frame.sparkSession)
        columns = self._coded.columns
        ranked = self._rank_records(fragments) if fragments.is_ranked else self._coded
        slots = _slots(fragments)
        part_of_slot = {int(slot): part for part, slot in enumerate(slots)}

        def placed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                codes = _matrix(batch.select(columns))
                ranks = batch.column("rank").to_numpy().astype(np.int64) if fragments.is_ranked else None
                slot_of_record = slots[fragments.part_of(codes, ranks)]
                yield _batch({name: batch.column(name) for name in columns} | {"slot": slot_of_record})

        def done(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
            import pyarrow as pa

            _keep_to_own_cores()
            number = part_of_slot[int(key[0].as_py())]
            return pa.table({"result": pa.array([work(number, _matrix(table.select(columns)))], type=pa.binary())})

        # A number of partitions that is given is kept: parts are few rows for Spark, but much work.
        parted = ranked.mapInArrow(placed, f"{_schema(self._n_codes)}, slot int").repartition(len(slots), "slot")
        results = parted.groupBy("slot").applyInArrow(done, "result binary")
        return [bytes(row["result"]) for row in _collect_watched(results, watch)]

    def each(self, work: Callable[[int], bytes], n_numbers: int) -> list[bytes]:
        def done(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            _keep_to_own_cores()
            for batch in batches:
                for number in batch.column("id").to_pylist():
                    yield _batch({"number": [number], "result": [work(number)]})

        _send_guests(self._frame.sparkSession)
        numbers = self._frame.sparkSession.range(0, n_numbers, 1, n_numbers)
        with without_pandas_warning():
            rows = _ask(numbers.mapInArrow(done, "number long, result binary").collect)
        return [bytes(row["result"]) for row in sorted(rows, key=lambda row: row["number"])]

    def close(self) -> None:
        if self._codes is not None:
            self._codes.unpersist()
            self._codes = None

    @property
    def _coded(self) -> DataFrame:
        assert self._codes is not None
        return self._codes

    def _select_plain(self, names: Sequence[str]) -> DataFrame:
        """The columns under plain names: dots and backticks mean something to Spark."""
        from pyspark.sql import functions as F

        quoted_names = ["`" + name.replace("`", "``") + "`" for name in names]
        return self._frame.select(*(F.col(name).alias(f"c{place}") for place, name in enumerate(quoted_names)))

    def _rank_records(self, fragments: Fragments) -> DataFrame:
        """With the rank of each record in its stratum.

        A stratum may have most of the rows, so it is sorted in bins of neighbouring keys; how many rows of a stratum
        are in the bins before is counted first.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        columns, bins = self._coded.columns, self._bins(fragments)
        n_bins = len(bins) + 1

        def binned(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            strata, keys = fragments.order(codes)
            return strata * n_bins + np.searchsorted(bins, keys, side="right"), keys

        places, times = self.count(lambda codes: binned(codes)[0])
        before = np.cumsum(times) - times
        firsts = np.searchsorted(places // n_bins, places // n_bins)
        before = before - before[firsts]

        def keyed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                bin_of_record, keys = binned(_matrix(batch))
                earlier = before[np.searchsorted(places, bin_of_record)]
                added = {"bin": bin_of_record, "key": keys, "earlier": earlier}
                yield _batch({name: batch.column(name) for name in columns} | added)

        keys = self._coded.mapInArrow(keyed, f"{_schema(self._n_codes)}, bin long, key long, earlier long")
        order = Window.partitionBy("bin").orderBy("key", *columns)
        return keys.withColumn("rank", F.col("earlier") + F.row_number().over(order) - 1)

    def _bins(self, fragments: Fragments) -> NDArray[np.int64]:
        """Keys that part the records into runs of a bearable length, as a sample has it."""
        n_bins = -(-self._n_rows // _ROWS_SORTED_TOGETHER)
        if n_bins < 2:
            return np.zeros(0, dtype=np.int64)
        _, keys = fragments.order(self.sample(_SAMPLE, Randomness(0)))
        return np.unique(np.quantile(keys, np.arange(1, n_bins) / n_bins, method="nearest").astype(np.int64))


def _slots(fragments: Fragments) -> NDArray[np.int32]:
    """For each part a number that Spark's hash puts into its own partition, the largest part into the first.

    By its own number per part would share a partition with others, chosen by chance, and the others would wait for it.
    Tasks are started in the order of partitions, so the largest are not the last. Should Spark hash differently one
    day, work is spread less evenly, and nothing else.
    """
    n_parts = fragments.n_parts
    sizes = np.array(fragments.sizes or [1] * n_parts)
    slots = np.full(n_parts, -1, dtype=np.int32)
    tried = 0
    while (slots < 0).any():
        numbers = np.arange(tried, tried + 64 * n_parts, dtype=np.int64)
        partitions = _spark_hash(numbers) % n_parts
        found, first = np.unique(partitions, return_index=True)
        open_ones = slots[found] < 0
        slots[found[open_ones]] = numbers[first[open_ones]]
        tried += 64 * n_parts
    placed = np.empty(n_parts, dtype=np.int32)
    placed[np.argsort(-sizes, kind="stable")] = slots
    return placed


def _spark_hash(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """What Spark's hash makes of 32-bit integers: Murmur3 with seed 42.

    >>> _spark_hash(np.array([0, 1, 2])).tolist()
    [933211791, -559580957, 1765031574]
    """
    mask = 0xFFFFFFFF

    def turned(words: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
        return (words << bits | words >> (32 - bits)) & mask

    def times(words: NDArray[np.int64], factor: int) -> NDArray[np.int64]:
        # In halves: 64 bits do not hold the product of two of 32.
        return ((words * (factor & 0xFFFF)) + (((words * (factor >> 16)) & 0xFFFF) << 16)) & mask

    mixed = times(turned(times(numbers & mask, 0xCC9E2D51), 15), 0x1B873593)
    mixed = (times(turned(42 ^ mixed, 13), 5) + 0xE6546B64) & mask
    mixed = mixed ^ 4
    mixed = times(mixed ^ mixed >> 16, 0x85EBCA6B)
    mixed = times(mixed ^ mixed >> 13, 0xC2B2AE35)
    mixed = mixed ^ mixed >> 16
    return np.where(mixed >= 1 << 31, mixed - (1 << 32), mixed)


def _schema(n_codes: int) -> str:
    return ", ".join(f"c{place} int" for place in range(n_codes))


def _matrix(cells: pa.RecordBatch | pa.Table) -> Codes:
    if not cells.num_rows:
        return np.zeros((0, cells.num_columns), dtype=np.int32)
    return np.column_stack([cells.column(place).to_numpy() for place in range(cells.num_columns)]).astype(np.int32)


def _series(column: Any) -> Any:
    import polars as pl
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        # Spark spells the same zone differently from call to call.
        column = column.cast(pa.timestamp("us", tz="UTC"))
    return pl.Series(values=column)


def _batch(columns: Mapping[str, Any]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict(dict(columns))


def _which(place: int, n_columns: int) -> int:
    """Spark's number for the tally of one column: a bit is set for every other one, the first has the highest."""
    return (1 << n_columns) - 1 - (1 << (n_columns - 1 - place))


def _too_many(tallied: DataFrame, columns: Sequence[str], names: Sequence[str]) -> DataError:
    sizes = {row["which"]: row["count"] for row in _ask(tallied.groupBy("which").count().collect)}
    size, name = max((sizes.get(_which(place, len(columns)), 0), name) for place, name in enumerate(names))
    return DataError(
        f"Column {quoted(name)} has {size:,} different values, more than a release can hold. Round it, take coarser "
        "values, or leave it out."
    )


def _refuse_nested(plain: DataFrame, names: Sequence[str]) -> None:
    from pyspark.sql import types as T

    for field, name in zip(plain.schema.fields, names, strict=True):
        if isinstance(field.dataType, T.ArrayType | T.MapType | T.StructType | T.BinaryType | T.VariantType):
            raise DataError(
                f"Column {quoted(name)} holds values of type {field.dataType.simpleString()[:40]}, which cannot be "
                "published. Convert it to numbers, dates, booleans or text, or leave it out."
            )


def _send_guests(spark: SparkSession) -> None:
    """The files of guests, which executors import as soon as work names a class of theirs; packages they must have."""
    families: tuple[Family[Any], ...] = (MODELS, ALGORITHMS, METRICS)
    names = {kind.__module__ for family in families for kind in family.guests} - {"__main__"}
    files = sorted(str(sys.modules[name].__file__) for name in names if "." not in name)
    _ask(lambda: spark.addArtifacts(*files, pyfile=True))


def _keep_to_own_cores() -> None:
    """As many threads as the task has cores: the others belong to other tasks."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None:
        os.environ[THREADS] = str(max(1, context.cpus()))


def _collect_watched(results: DataFrame, watch: Callable[[], None]) -> list[Any]:
    """The rows of a result; Ctrl-C ends the work on the cluster too."""
    spark = results.sparkSession
    tag = f"lookalike-{os.getpid()}-{id(results)}"
    rows: list[Any] = []
    faults: list[BaseException] = []

    def collect() -> None:
        try:
            spark.addTag(tag)
            rows.extend(_ask(results.collect))
        except BaseException as fault:
            faults.append(fault)

    worker = threading.Thread(target=collect, name="lookalike-spark", daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(_SECONDS_BETWEEN_LOOKS)
            watch()
    except BaseException:
        spark.interruptTag(tag)
        worker.join()
        raise
    if faults:
        raise faults[0]
    return rows


def _ask(action: Callable[[], Any]) -> Any:
    """What Spark answers; its faults in our words, since its own quote plans and values."""
    try:
        with without_pandas_warning():
            return action()
    except spark_failures() as fault:
        raise _in_words(str(fault), condition_of(fault)) from None


def _in_words(said: str, condition: str) -> LookalikeError:
    if missing := re.search(r"No module named '(\w+)|Can't pickle <class '(__main__)\.", said):
        name = missing[1] or missing[2]
        if name == "lookalike":
            remedy = "Install it where they run (the same version as here), or send it along: see docs/spark.md."
        elif name in ("pyarrow", "polars", "numba", "numpy", "cryptography", "scipy"):
            remedy = "Install lookalike[spark] where they run."
        else:
            remedy = "Put a class of your own into one .py file, which is sent along, or install its package there."
        return MissingPart(f"The executors cannot import {name}. {remedy}")
    if "The table changed while it was read" in said:
        return DataError("The table changed while it was read. Publish a copy that nobody writes to.")
    cause = "an executor was lost" if "ExecutorLostFailure" in said else condition or "it does not say why"
    return LookalikeError(
        f"Spark gave up on the work ({cause}), and nothing is written. Its own log tells more. If executors were lost "
        "for lack of memory, give them more or make parts smaller (--part-rows)."
    )


def spark_failures() -> tuple[type[Exception], ...]:
    """The exceptions that a call of Spark may raise, for an `except` clause."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ImportError:  # a client of Spark Connect alone
        return (PySparkException,)
    return (PySparkException, Py4JError)


def condition_of(error: Any) -> str:
    """Spark's name for what went wrong, such as PATH_NOT_FOUND; empty if it has none."""
    condition = getattr(error, "getCondition", None)
    return (condition() or "") if condition is not None else ""
