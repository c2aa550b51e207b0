"""How models, promises, algorithms and attacks are written; a model also says what it asks of a table."""

from __future__ import annotations

import numpy as np

from fuzz.clinic import clinic
from fuzz.judging import Fault, tried
from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.attacks import ATTACKS, parse_attack
from lookalike.errors import LookalikeError
from lookalike.models import MODELS, parse_model, parse_promise

SEEDS = (
    b"k-anonymity:10", b"diagnosis=t-closeness:0.2", b"beta-likeness:3,bound=basic",
    b"l-diversity:4,kind=recursive,c=2",
    b"delta-disclosure:1.0", b"alpha-k:alpha=0.5,k=5", b"f-privacy:theta=8,base=1/50", b"rho-privacy:0.1,0.5",
    b"f-privacy:file=/dev/zero", b"mondrian:cuts=9,choose=widest", b"burel", b"heterogeneous:matcher=greedy",
    b"naive-bayes:smoothing=0", b"corruption:known=0.5", b"k-anonymity:1e299", b"t-closeness:1e-299",
    b"t-closeness:0.00000000000000000000000000000000000000000001", b"l-diversity:l=3,values=flu|cold\\|x",
)  # fmt: skip
WORDS = tuple(name.encode() for name in (*MODELS, *ALGORITHMS, *ATTACKS)) + (
    b":", b",", b"=", b"|", b"\\", b"/", b"1e999999", b"1e300", b"-1e-300", b"nan", b"inf", b"1_0", b"kind=entropy",
    b"kind=simple", b"bound=enhanced", b"file=", b"\xd9\xa1", b"\0", b"9" * 50, b"." + b"0" * 50,
)  # fmt: skip


def run(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for read in (parse_model, parse_promise, parse_algorithm, parse_attack):
        parts: list[object] = []
        if not tried(lambda read=read, parts=parts: parts.append(read(text)), named=data):
            continue
        tried(lambda parts=parts: str(parts[0]), named=data)
        if read is parse_promise:
            continue
        again: list[object] = []
        tried(lambda read=read, parts=parts, again=again: again.append(read(str(parts[0]))), named=data)
        if again != parts:
            raise Fault("reads back as something else", read.__name__)
        if read is parse_model:
            _asked_of_a_table(parts[0], data)


def _asked_of_a_table(model: object, data: bytes) -> None:
    domain = clinic().domains.sensitive[0]
    prior = np.array([4, 3, 3, 2], dtype=np.int64)

    def ask() -> None:
        model.promise("diagnosis")  # type: ignore[attr-defined]
        model.check_eligible(prior, domain)  # type: ignore[attr-defined]
        model.cautions(prior, domain)  # type: ignore[attr-defined]
        model.requirement(prior, domain, 0)  # type: ignore[attr-defined]

    try:
        tried(ask, named=data)
    except LookalikeError:
        return
