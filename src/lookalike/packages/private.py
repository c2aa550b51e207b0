"""The private part of a release: which record became which row, and the seed if one was given.

It goes to a sibling folder whose name ends in PRIVATE, only on request, readable by its owner alone. With it the
release can be undone; it is needed to score a release or to audit a matched one at the level of its assigned graph.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from lookalike.errors import DataError
from lookalike.packages.placing import placed
from lookalike.release import Linkage, MatchGraph

MARKER = "private.json"
_README = """KEEP THIS FOLDER. DO NOT GIVE IT AWAY.

It belongs to the release of the same name and undoes it: linkage.parquet says which record of the original became
which row, graph.parquet which rows each record could be behind, seed.txt repeats the run. Records and rows are
numbered from 0, records in the order of the original.

You need it only to measure the release against the original. If you do not, delete the folder.
"""


def private_folder(folder: Path) -> Path:
    """Where the private part of a release goes."""
    return folder.parent / f"{folder.name} PRIVATE"


def write_private(folder: Path, linkage: Linkage, seed: int | None, *, overwrite: bool = False) -> Path:
    """Write the private part of the release at `folder`; the folder that holds it."""
    target = private_folder(Path(folder).absolute())
    files = ["README.txt", "linkage.parquet", MARKER]
    files += ["graph.parquet"] if linkage.graph is not None else []
    files += ["seed.txt"] if seed is not None else []
    with placed(target, marker=MARKER, overwrite=overwrite) as building:
        building.chmod(0o700)
        _linkage_frame(linkage).write_parquet(building / "linkage.parquet")
        if linkage.graph is not None:
            _graph_frame(linkage.graph).write_parquet(building / "graph.parquet")
        if seed is not None:
            (building / "seed.txt").write_text(f"{seed}\n", encoding="utf-8")
        (building / "README.txt").write_text(_README, encoding="utf-8")
        marker = json.dumps({"lookalike": {"private": 1, "files": sorted(files)}}, indent=2)
        (building / MARKER).write_text(marker + "\n", encoding="utf-8")
    return target


def read_graph(folder: Path) -> MatchGraph:
    """The assigned graph from a private folder."""
    if not Path(folder).is_dir():
        raise DataError(f"There is no folder {folder}. Name the PRIVATE folder that lies beside the release.")
    lists = _read(Path(folder) / "graph.parquet")["rows"]
    sizes = lists.list.len().to_numpy()
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return MatchGraph(starts, lists.explode(empty_as_null=False).to_numpy().astype(np.int32))


def read_linkage(folder: Path) -> Linkage:
    """The whole private part."""
    frame = _read(Path(folder) / "linkage.parquet")
    sides = {
        side: frame.filter(pl.col("side") == side).sort("row")["record"].to_numpy().astype(np.int64)
        for side in frame["side"].unique().to_list()
    }
    graph = read_graph(folder) if (Path(folder) / "graph.parquet").exists() else None
    return Linkage(sides.get("rows", np.empty(0, dtype=np.int64)), sides.get("quasi rows"), graph)


def _linkage_frame(linkage: Linkage) -> pl.DataFrame:
    sides = {"rows": linkage.record_of_row}
    if linkage.record_of_quasi_row is not None:
        sides["quasi rows"] = linkage.record_of_quasi_row
    return pl.concat(
        pl.DataFrame(
            {
                "side": pl.Series([side] * len(records), dtype=pl.String),
                "row": np.arange(len(records), dtype=np.int64),
                "record": np.asarray(records, dtype=np.int64),
            }
        )
        for side, records in sides.items()
    )


def _graph_frame(graph: MatchGraph) -> pl.DataFrame:
    """One list a record; a record behind no row has an empty list."""
    lists = [graph.rows[start:end].tolist() for start, end in zip(graph.starts[:-1], graph.starts[1:], strict=True)]
    return pl.DataFrame({"rows": pl.Series(lists, dtype=pl.List(pl.Int32))})


def _read(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or "it is no Parquet file"
        raise DataError(f"Cannot read {path}: {reason}. Name the folder that ends in PRIVATE.") from None
