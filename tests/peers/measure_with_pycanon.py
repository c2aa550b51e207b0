"""Measures published tables with pyCANON; run by the Python that has it (see docs/peers.md).

    python measure_with_pycanon.py REQUEST.json

The request is a list of {"file": CSV, "quasi": [names], "sensitive": name, "numeric": bool}; the answer, on standard
output, is {"measures": [one mapping a request], "faults": {...}} as JSON, with null for not a number. Cells are read as
text, so that nothing published is taken for missing; of a numeric column, text that is no number (missing values) is
one more value above all others.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any


def read(request: dict[str, Any]) -> Any:
    import pandas

    frame = pandas.read_csv(request["file"], dtype=str, keep_default_na=False)
    name = request["sensitive"]
    if request["numeric"]:
        numbers = pandas.to_numeric(frame[name], errors="coerce")
        frame[name] = numbers.fillna(numbers.max() + 1)
    # pyCANON takes index labels for positions.
    return frame[[*request["quasi"], name]].reset_index(drop=True)


def measure(request: dict[str, Any]) -> dict[str, float | None]:
    from pycanon import anonymity

    frame, quasi, sensitive = read(request), request["quasi"], [request["sensitive"]]
    alpha, _ = anonymity.alpha_k_anonymity(frame, quasi, sensitive)
    c, ell = anonymity.recursive_c_l_diversity(frame, quasi, sensitive)
    measures = {
        "k": anonymity.k_anonymity(frame, quasi),
        "alpha": alpha,
        "distinct l": anonymity.l_diversity(frame, quasi, sensitive),
        "entropy l": anonymity.entropy_l_diversity(frame, quasi, sensitive),
        "recursive c": c,
        "recursive l": ell,
        "basic beta": anonymity.basic_beta_likeness(frame, quasi, sensitive),
        "enhanced beta": anonymity.enhanced_beta_likeness(frame, quasi, sensitive),
        "t": anonymity.t_closeness(frame, quasi, sensitive),
        "delta": anonymity.delta_disclosure(frame, quasi, sensitive),
    }
    return {name: None if math.isnan(value) else float(value) for name, value in measures.items()}


def faults() -> dict[str, float]:
    """What pyCANON says of tables small enough to check by eye."""
    import pandas
    from pycanon import anonymity

    lone = pandas.DataFrame({"q": ["a", "a", None], "s": ["x", "y", "z"]})
    mixed = pandas.DataFrame({"q": ["a", "a", "b", "b"], "s": ["x", "y", "x", "y"]}, index=[0, 2, 1, 3])
    return {
        "k where one record lacks its quasi-identifier": anonymity.k_anonymity(lone, ["q"]),
        "distinct l under another index": anonymity.l_diversity(mixed, ["q"], ["s"]),
        "distinct l under a plain index": anonymity.l_diversity(mixed.reset_index(drop=True), ["q"], ["s"]),
    }


def main() -> None:
    requests = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    json.dump({"measures": [measure(request) for request in requests], "faults": faults()}, sys.stdout)


if __name__ == "__main__":
    main()
