"""lookalike: publish tables about people so that nobody can be singled out, and prove it.

    import lookalike as la
    la.publish("patients.csv", qi=["age", "sex", "zip"], sensitive="diagnosis", model=la.BetaLikeness(2)).write("out")

Everything a user needs stands here; what is below is named after what it does.
"""

from lookalike.algorithms import Mondrian, StrictMondrian
from lookalike.audit import Audit, Check, Verdict
from lookalike.contracts import Promise
from lookalike.errors import (
    AuditFailed,
    DataError,
    Infeasible,
    LookalikeError,
    MissingPart,
    RecipeError,
    SchemaError,
    Unsupported,
)
from lookalike.inspection import Inspection, suggest_schema
from lookalike.microdata import Microdata, Table
from lookalike.models import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    FPrivacy,
    KAnonymity,
    KConcealment,
    LDiversity,
    RhoPrivacy,
    TCloseness,
)
from lookalike.publication import Publication, inspect, measure, publish, read_table, verify
from lookalike.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.schema import Attribute, Kind, Role, Schema
from lookalike.version import __version__

__all__ = [
    "AlphaK",
    "Attribute",
    "Audit",
    "AuditFailed",
    "BetaLikeness",
    "Bucketized",
    "Check",
    "DataError",
    "DeltaDisclosure",
    "FPrivacy",
    "Grouped",
    "Infeasible",
    "Inspection",
    "KAnonymity",
    "KConcealment",
    "Kind",
    "LDiversity",
    "LookalikeError",
    "Matched",
    "Microdata",
    "MissingPart",
    "Mondrian",
    "Perturbed",
    "Promise",
    "Publication",
    "RecipeError",
    "RhoPrivacy",
    "Role",
    "Schema",
    "SchemaError",
    "StrictMondrian",
    "TCloseness",
    "Table",
    "Unsupported",
    "Verdict",
    "__version__",
    "inspect",
    "measure",
    "publish",
    "read_table",
    "suggest_schema",
    "verify",
]
