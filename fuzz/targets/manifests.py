"""What a release folder says about itself (datapackage.json), read by auditors, analysts and samplers."""

from __future__ import annotations

from fuzz.clinic import PARTS, clinic, folder_of, replaced
from fuzz.judging import tried
from lookalike.analysis.release import open_release
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.describe import DESCRIPTOR
from lookalike.files.releases.read import ReleaseFolder
from tests.files.releases.release_forms import FORMS
from tests.reading import read_release

SEEDS = tuple((folder_of(place) / DESCRIPTOR).read_bytes() for place in (*FORMS, PARTS))
WORDS = (b'"lookalike"', b'"format"', b'"tables"', b'"columns"', b'"parts"', b'"path"', b'"matrices"', b'"weights"',
         b'"values"', b'"total"', b'"dummies"', b'"by_value"', b'"counts"', b'"form"', b'"promises"', b'"column"',
         b'"grouped"', b'"matched"', b'"bucketized"', b'"perturbed"', b'"exact"', b'"interval"', b'"set"', b'"node"',
         b'"span"', b'"bucket"', b"NaN", b"Infinity", b"-Infinity", b"1e999", b"1000000000", b"null", b"true", b"[",
         b"{",
         b"../../etc/passwd", b"/etc/passwd", b"\\ud800", b"\\u0000", b"[[[[[[[[[[[[[[[[")  # fmt: skip


def run(data: bytes) -> None:
    place = PARTS if b'"parts"' in data else next((form for form in FORMS if f'"{form}"'.encode() in data), FORMS[0])
    folder = folder_of(place)
    with replaced(folder / DESCRIPTOR, data):
        tried(lambda: open_release(folder), named=data)
        tried(lambda: read_alone(ReleaseFolder(folder)), named=data)
        tried(lambda: read_release(folder, clinic()), named=data)
