"""Who was in which group of an earlier release, where no private list says so: placed as the audit places records.

By the earlier original (`place_original`) every record of it is given a row that it fits with its own values, and is
recognised in the new table by the person's identifier. By the files alone (`place_records`) the records of the new
table are placed in the earlier release: those that find a row that they fit and that has their values count as people
of both releases. This takes the quasi-identifiers to be the same in both. Where a record fits several groups, the
audit's placement is one of several possible ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from lookalike.audit.containment import Cells, weight_fitting
from lookalike.audit.reading import Boxes, Ints, Reading, joint_ids, largest_placement
from lookalike.data.microdata import Codes, Domain, Microdata
from lookalike.data.release import Bucketized, Grouped, Matched
from lookalike.data.schema import Role
from lookalike.errors import DataError, RecipeError, counted, quoted
from lookalike.files.releases.assemble import DomainIndex, list_codes
from lookalike.files.releases.cells import MISSING, Encoding, Field, parse_cells, plain_unescape, print_cells
from lookalike.files.releases.read import ReleaseFolder, over_original

_ANYWHERE = "*"
_STEPS = 50
"""Most placements tried per record of a bucketized release."""


def place_original(opened: ReleaseFolder, data: Microdata, class_of_row: Ints) -> Ints:
    """The group of each record of the release's own original; -1: left out."""
    release = over_original(opened, data)
    reading = Reading(release, data)
    groups = np.full(data.n_rows, -1, dtype=np.int64)
    if isinstance(release, Bucketized):
        places = _place_in_buckets(
            reading.point_of_record,
            reading.point_of_row,
            reading.buckets[0],
            reading.value_of_record,
            reading.value_of_row,
            reading.buckets[1],
        )
        first_of_bucket = _first_by(reading.buckets[1], class_of_row)
        groups[places >= 0] = first_of_bucket[places[places >= 0]]
    else:
        assert isinstance(release, Grouped | Matched)
        placement = reading.placement
        first_of_class = _first_by(reading.boxes.class_of_row, class_of_row)
        found = placement.item_of_record >= 0
        groups[found] = first_of_class[placement.class_of_item[placement.item_of_record[found]]]
    n_left = int(np.count_nonzero(groups < 0))
    withheld = release.withheld
    if isinstance(release, Bucketized) and n_left > withheld.n_suppressed:
        raise RecipeError(
            f"{counted(n_left, 'record')} of the original were not found a bucket in {opened.path}: either it was made "
            "from another table, or its people fit too many buckets to tell. Keep its PRIVATE folder beside it, which "
            "lists people if it was published with --person."
        )
    n_expected = data.n_rows - withheld.n_suppressed + withheld.n_dummies
    if n_left > withheld.n_suppressed or n_expected != len(class_of_row):
        raise DataError(
            f"{opened.path} does not belong to the original that was given: it has {counted(len(class_of_row), 'row')} "
            f"for {counted(data.n_rows, 'record')}, of which {n_left:,} find no row there. Name the table that the "
            "release was made from (--after RELEASE=ORIGINAL), or the release beside its PRIVATE folder."
        )
    return groups


def _first_by(units: Ints, class_of_row: Ints) -> Ints:
    """By unit, the number of the group that its rows have."""
    found = np.full(int(units.max(initial=-1)) + 1, -1, dtype=np.int64)
    found[units] = class_of_row
    return found


def place_records(opened: ReleaseFolder, data: Microdata, class_of_row: Ints) -> tuple[Ints, int]:
    """The group of each record of a later table; -1: not in the release. And how many fit several groups."""
    manifest = opened.manifest
    name = "qit" if manifest.form == Bucketized.form else "release"
    fields = {field.name: field for field in manifest.tables[name] if field.role == Role.QUASI}
    own = {domain.name: index for index, domain in enumerate(data.domains.quasi)}
    lost = sorted(fields.keys() - own.keys())
    if lost:
        raise RecipeError(
            f"{opened.path} has the quasi-identifier {quoted(lost[0])}, which the new table does not have as one, so "
            "its people cannot be found. Name it (--qi), or give the table that the release was made from (--after "
            "RELEASE=ORIGINAL)."
        )
    values, value_of_row = _join_values(opened, data)
    columns = [
        (fields[name], data.domains.quasi[index], data.quasi[:, index]) for name, index in own.items() if name in fields
    ]
    frame = opened.frames[name]
    if manifest.form == Bucketized.form:
        return _place_by_points(opened, columns, values, value_of_row, class_of_row)
    classes, class_rank = np.unique(class_of_row, return_inverse=True)
    class_rank = class_rank.reshape(-1).astype(np.int64)
    boxes = [
        [_hold(field, domain, text) for text in print_cells(field, frame[field.name][classes.tolist()]).to_list()]
        for field, domain, _ in columns
    ]
    cells = _pack([domain for _, domain, _ in columns], boxes)
    codes = np.ascontiguousarray(np.column_stack([codes for *_, codes in columns]).astype(np.int32))
    n_values = 1 + max(int(values.max(initial=-1)), int(value_of_row.max(initial=-1)))
    placement = largest_placement(Boxes(cells, class_rank, len(classes)), codes, values, value_of_row, n_values)
    groups = np.full(data.n_rows, -1, dtype=np.int64)
    found = placement.item_of_record >= 0
    groups[found] = classes[placement.class_of_item[placement.item_of_record[found]]]
    n_fit = weight_fitting(
        cells,
        np.arange(len(classes)),
        np.ones(len(classes), dtype=np.int64),
        np.array([0, len(classes)]),
        codes,
        np.arange(data.n_rows),
        np.zeros(data.n_rows, dtype=np.int64),
    )
    return groups, int(np.count_nonzero(n_fit > 1))


def _join_values(opened: ReleaseFolder, data: Microdata) -> tuple[Ints, Ints]:
    """Numbers for the sensitive and carried values of the records and of the release's rows; equal ones are the same.

    Values that the new table does not have get their own numbers.
    """
    name = "sat" if opened.manifest.form == Bucketized.form else "release"
    frame = opened.frames[name]
    published = {field.name: field for field in opened.manifest.tables[name]}
    pairs: list[tuple[Ints, Ints]] = []
    for domains, block in ((data.domains.sensitive, data.sensitive), (data.domains.carried, data.carried)):
        for domain, codes in zip(domains, block.T, strict=True):
            if domain.name not in published:
                continue
            field, index = published[domain.name], DomainIndex(domain)
            texts = print_cells(field, frame[field.name])
            code_of: dict[str | None, int] = {}
            for text in texts.unique().to_list():
                code = domain.missing_code if text is None else index.find(plain_unescape(text))
                code_of[text] = code if code >= 0 else domain.n_codes + 1 + len(code_of)
            pairs.append(
                (codes.astype(np.int64), np.array([code_of[text] for text in texts.to_list()], dtype=np.int64))
            )
    joined = [np.concatenate(pair) for pair in pairs]
    ids = joint_ids(joined, data.n_rows + len(frame))
    return ids[: data.n_rows], ids[data.n_rows :]


def _hold(field: Field, domain: Domain, text: str | None) -> tuple[int, ...]:
    """The codes of the later table's values that a cell of the earlier release may hide."""
    index = DomainIndex(domain)
    missing = (domain.missing_code,) if domain.has_missing else ()
    if text is None or text == MISSING:
        return missing
    if field.encoding is Encoding.SET and text != _ANYWHERE:
        held: set[int] = set()
        for token in _members(text):
            try:
                held.update(list_codes(index, parse_cells(field, index, token)))
            except KeyError:
                continue
        return tuple(sorted(held))
    tail = f"|{MISSING}"
    if text.endswith(tail) and not domain.has_missing:
        text = text.removesuffix(tail)
    try:
        return tuple(list_codes(index, parse_cells(field, index, text)))
    except KeyError:
        # A node or an end that no value of the later table lies below.
        return ()


def _members(text: str) -> list[str]:
    """What is between the bars of a set."""
    parts, current, escaped = [], "", False
    for letter in text:
        if letter == "|" and not escaped:
            parts.append(current)
            current = ""
            continue
        escaped = letter == "\\" and not escaped
        current += letter
    return [*parts, current]


def _pack(domains: list[Domain], boxes: list[list[tuple[int, ...]]]) -> Cells:
    """Cells by class and column, from the codes that each holds."""
    n_classes, n_columns = len(boxes[0]), len(domains)
    lows = np.full((n_classes, n_columns), np.iinfo(np.int32).max, dtype=np.int32)
    highs = np.full((n_classes, n_columns), -1, dtype=np.int32)
    missing = np.zeros((n_classes, n_columns), dtype=bool)
    starts, ends = (np.zeros((n_classes, n_columns), dtype=np.int64) for _ in range(2))
    members: list[int] = []
    for column, (domain, listed) in enumerate(zip(domains, boxes, strict=True)):
        for group, codes in enumerate(listed):
            real = codes
            if domain.taxonomy is None and domain.has_missing and domain.missing_code in codes:
                missing[group, column] = True
                real = tuple(code for code in codes if code != domain.missing_code)
            starts[group, column] = ends[group, column] = len(members)
            if not real:
                continue
            lows[group, column], highs[group, column] = real[0], real[-1]
            if real[-1] - real[0] + 1 != len(real):
                members += real
                ends[group, column] = len(members)
    codes_of_missing = np.array([domain.missing_code for domain in domains], dtype=np.int32)
    return Cells(lows, highs, missing, codes_of_missing, starts, ends, np.array(members or [0], dtype=np.int32))


def _place_by_points(
    opened: ReleaseFolder,
    columns: list[tuple[Field, Domain, Codes]],
    values: Ints,
    value_of_row: Ints,
    class_of_row: Ints,
) -> tuple[Ints, int]:
    """Buckets list quasi-identifiers exactly: records are placed in a bucket that lists theirs and has their values."""
    qit, sat = opened.frames["qit"], opened.frames["sat"]
    codes_of_rows, codes_of_records = [], []
    for field, domain, codes in columns:
        index = DomainIndex(domain)
        code_of: dict[str | None, int] = {}
        texts = print_cells(field, qit[field.name])
        for text in texts.unique().to_list():
            code = domain.missing_code if text is None else index.find(plain_unescape(text))
            code_of[text] = code if code >= 0 else domain.n_codes + 1 + len(code_of)
        codes_of_rows.append(np.array([code_of[text] for text in texts.to_list()], dtype=np.int64))
        codes_of_records.append(codes.astype(np.int64))
    joined = [np.concatenate(pair) for pair in zip(codes_of_records, codes_of_rows, strict=True)]
    ids = joint_ids(joined, len(values) + len(qit))
    numbers = [field.name for field in opened.manifest.tables["qit"] if field.encoding is Encoding.BUCKET]
    listed = [field.name for field in opened.manifest.tables["sat"] if field.encoding is Encoding.BUCKET]
    bucket_of_quasi, bucket_of_value = qit[numbers[0]].to_numpy(), sat[listed[0]].to_numpy()
    names, ranks = np.unique(np.concatenate((bucket_of_quasi, bucket_of_value)), return_inverse=True)
    ranks = ranks.reshape(-1).astype(np.int64)
    of_quasi, of_value = ranks[: len(qit)], ranks[len(qit) :]
    points = ids[: len(values)]
    places = _place_in_buckets(points, ids[len(values) :], of_quasi, values, value_of_row, of_value)
    first_of_bucket = np.full(len(names), -1, dtype=np.int64)
    first_of_bucket[of_value] = class_of_row
    groups = np.where(places >= 0, first_of_bucket[places], -1)
    pairs = np.unique(np.column_stack((ids[len(values) :], of_quasi)), axis=0)
    n_buckets = np.bincount(pairs[:, 0], minlength=int(ids.max(initial=0)) + 1)
    return groups, int(np.count_nonzero(n_buckets[points] > 1))


def _place_in_buckets(
    point_of_record: Ints, point_of_quasi: Ints, bucket_of_quasi: Ints, values: Ints, value_of_row: Ints, of_value: Ints
) -> Ints:
    """A bucket for each record that lists its point and has its value; -1 where none is found.

    A record takes a bucket with room, else the place of another one there, which is placed anew; limited in steps.
    """
    listed: dict[int, Counter[int]] = defaultdict(Counter)
    for point, bucket in zip(point_of_quasi.tolist(), bucket_of_quasi.tolist(), strict=True):
        listed[point][bucket] += 1
    room = Counter(zip(of_value.tolist(), value_of_row.tolist(), strict=True))
    keys = list(zip(point_of_record.tolist(), values.tolist(), strict=True))
    choices = [[bucket for bucket in listed.get(point, ()) if room[bucket, value]] for point, value in keys]
    by_value: dict[tuple[int, int], list[int]] = defaultdict(list)
    by_point: dict[tuple[int, int], list[int]] = defaultdict(list)
    places, drawn = np.full(len(keys), -1, dtype=np.int64), np.random.default_rng(0)
    waiting = sorted((record for record in range(len(keys)) if choices[record]), key=lambda one: -len(choices[one]))
    for _ in range(_STEPS * len(keys) + _STEPS):
        if not waiting:
            break
        record = waiting.pop()
        point, value = keys[record]

        def count_evicted(bucket: int, point: int = point, value: int = value) -> tuple[int, float]:
            full = len(by_value[bucket, value]) >= room[bucket, value]
            return full + (len(by_point[point, bucket]) >= listed[point][bucket]), float(drawn.random())

        bucket = min(choices[record], key=count_evicted)
        for held, limit in (
            (by_value[bucket, value], room[bucket, value]),
            (by_point[point, bucket], listed[point][bucket]),
        ):
            if len(held) >= limit:
                other = held[int(drawn.integers(len(held)))]
                by_value[bucket, keys[other][1]].remove(other)
                by_point[keys[other][0], bucket].remove(other)
                places[other] = -1
                waiting.insert(0, other)
        by_value[bucket, value].append(record)
        by_point[point, bucket].append(record)
        places[record] = bucket
    return places
