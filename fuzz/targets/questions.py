"""Questions in SQL to releases of every form."""

from __future__ import annotations

from functools import cache

from fuzz.clinic import folder_of
from fuzz.judging import tried
from lookalike.analysis.release import PublishedRelease, open_release
from tests.files.releases.release_forms import FORMS

SEEDS = (
    b"SELECT COUNT(*) WHERE age BETWEEN 30 AND 40 AND diagnosis IN ('flu', 'gout')",
    b"SELECT COUNT(*), pain FROM x WHERE \"work, class\" <> 'Federal' GROUP BY pain",
    b"select count(*) where born >= DATE '1980-01-01' and born < '1981-05-01'",
    b"SELECT COUNT(*), smokes WHERE (age < 3 OR age = -2) AND zip IS NOT NULL GROUP BY smokes",
    b"SELECT COUNT(*) WHERE weight > 1e999999 AND zip NOT IN ('13000', '13*')",
    b"SELECT COUNT(*) WHERE smokes = true AND diagnosis IS NULL AND pain >= 'mid' -- x",
    b"SELECT COUNT(*), diagnosis WHERE age NOT BETWEEN 1 AND 2 GROUP BY diagnosis",
)
WORDS = (b"SELECT ", b"COUNT(*)", b"DISTINCT ", b" WHERE ", b" GROUP BY ", b" AND ", b" OR ", b" NOT ", b" IN ",
         b" BETWEEN ", b" IS NULL", b" FROM ", b" JOIN ", b" UNION ", b" WITH ", b" CASE WHEN ", b" LIKE ", b"CAST(",
         b" AS DATE)", b"::date", b"age", b"born", b"pain", b"zip", b"weight", b"diagnosis", b"smokes", b"'", b'"',
         b"--", b"/*", b"*/", b"(", b")", b"((((((((", b"1e999999", b"NaN", b"-1", b"0x1", b"$1", b"?", b"[", b"{",
         b";",
         b"\0", b"\xe2\x80\xae")  # fmt: skip


@cache
def _loaded(form: str) -> PublishedRelease:
    return open_release(folder_of(form))


def run(data: bytes) -> None:
    sql = data.decode("utf-8", "surrogateescape")
    for form in FORMS:
        if not tried(lambda form=form: _loaded(form).query(sql), named=data):
            return
