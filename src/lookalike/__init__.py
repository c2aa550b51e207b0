"""lookalike: publish tables about people so that nobody can be singled out, and prove it.

    import lookalike as la
    la.publish("patients.csv", qi=["age", "sex", "zip"], sensitive="diagnosis", model=la.BetaLikeness(2)).write("out")

Everything a user needs stands here; what is below is named after what it does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lookalike.deprecations import NAME, current
from lookalike.version import __version__

if TYPE_CHECKING:
    from lookalike.algorithms import Groups, Mondrian, StrictMondrian
    from lookalike.algorithms.privbayes import PrivBayes
    from lookalike.analysis.estimate import Estimate
    from lookalike.analysis.plain import Pooled, pool, sample
    from lookalike.analysis.release import PublishedRelease, open_release
    from lookalike.attacks.run import Attacks
    from lookalike.audit import Audit, Check, Verdict
    from lookalike.checking import attack, fidelity, measure, verify
    from lookalike.data.contracts import Promise
    from lookalike.data.microdata import Microdata, Table
    from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
    from lookalike.data.schema import Attribute, Kind, Role, Schema
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
    from lookalike.evaluation.advise import Advice
    from lookalike.evaluation.compare import Comparison, compare
    from lookalike.evaluation.fidelity import Fidelity
    from lookalike.evaluation.inspect import Inspection, suggest_schema
    from lookalike.files.tables import read_table
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
    from lookalike.publication import Publication, Synthesis, advise, inspect, publish, synthesize

__all__ = [
    "Advice",
    "AlphaK",
    "Attacks",
    "Attribute",
    "Audit",
    "AuditFailed",
    "BetaLikeness",
    "Bucketized",
    "Check",
    "Comparison",
    "DataError",
    "DeltaDisclosure",
    "Estimate",
    "FPrivacy",
    "Fidelity",
    "Grouped",
    "Groups",
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
    "Pooled",
    "PrivBayes",
    "Promise",
    "Publication",
    "PublishedRelease",
    "RecipeError",
    "RhoPrivacy",
    "Role",
    "Schema",
    "SchemaError",
    "StrictMondrian",
    "Synthesis",
    "TCloseness",
    "Table",
    "Unsupported",
    "Verdict",
    "__version__",
    "advise",
    "attack",
    "compare",
    "fidelity",
    "inspect",
    "measure",
    "open_release",
    "pool",
    "publish",
    "read_table",
    "sample",
    "suggest_schema",
    "synthesize",
    "verify",
]

# Where each name lives. Loaded when first used, so that `import lookalike` and `lookalike --help` answer at once.
_HOMES = {
    "Advice": "lookalike.evaluation.advise",
    "AlphaK": "lookalike.models",
    "Attacks": "lookalike.attacks.run",
    "Attribute": "lookalike.data.schema",
    "Audit": "lookalike.audit",
    "AuditFailed": "lookalike.errors",
    "BetaLikeness": "lookalike.models",
    "Bucketized": "lookalike.data.release",
    "Check": "lookalike.audit",
    "Comparison": "lookalike.evaluation.compare",
    "DataError": "lookalike.errors",
    "DeltaDisclosure": "lookalike.models",
    "Estimate": "lookalike.analysis.estimate",
    "FPrivacy": "lookalike.models",
    "Fidelity": "lookalike.evaluation.fidelity",
    "Grouped": "lookalike.data.release",
    "Groups": "lookalike.algorithms",
    "Infeasible": "lookalike.errors",
    "Inspection": "lookalike.evaluation.inspect",
    "KAnonymity": "lookalike.models",
    "KConcealment": "lookalike.models",
    "Kind": "lookalike.data.schema",
    "LDiversity": "lookalike.models",
    "LookalikeError": "lookalike.errors",
    "Matched": "lookalike.data.release",
    "Microdata": "lookalike.data.microdata",
    "MissingPart": "lookalike.errors",
    "Mondrian": "lookalike.algorithms",
    "Perturbed": "lookalike.data.release",
    "Pooled": "lookalike.analysis.plain",
    "PrivBayes": "lookalike.algorithms.privbayes",
    "Promise": "lookalike.data.contracts",
    "Publication": "lookalike.publication",
    "PublishedRelease": "lookalike.analysis.release",
    "RecipeError": "lookalike.errors",
    "RhoPrivacy": "lookalike.models",
    "Role": "lookalike.data.schema",
    "Schema": "lookalike.data.schema",
    "SchemaError": "lookalike.errors",
    "StrictMondrian": "lookalike.algorithms",
    "Synthesis": "lookalike.publication",
    "TCloseness": "lookalike.models",
    "Table": "lookalike.data.microdata",
    "Unsupported": "lookalike.errors",
    "Verdict": "lookalike.audit",
    "advise": "lookalike.publication",
    "attack": "lookalike.checking",
    "fidelity": "lookalike.checking",
    "compare": "lookalike.evaluation.compare",
    "inspect": "lookalike.publication",
    "measure": "lookalike.checking",
    "open_release": "lookalike.analysis.release",
    "pool": "lookalike.analysis.plain",
    "publish": "lookalike.publication",
    "read_table": "lookalike.files.tables",
    "sample": "lookalike.analysis.plain",
    "suggest_schema": "lookalike.evaluation.inspect",
    "synthesize": "lookalike.publication",
    "verify": "lookalike.checking",
}


def __getattr__(name: str) -> Any:
    if name == "spark":
        return import_module("lookalike.spark")
    today = current(NAME, name)
    if today != name:
        return globals().get(today) or __getattr__(today)
    if name not in _HOMES:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
