"""The public names, and where each is. `__init__.py` reads this list and loads a name when it is first used."""

from lookalike import spark as spark
from lookalike.algorithms import Groups as Groups, Mondrian as Mondrian, StrictMondrian as StrictMondrian
from lookalike.algorithms.privbayes import PrivBayes as PrivBayes, Synthesis as Synthesis
from lookalike.analysis.counts import Estimate as Estimate
from lookalike.analysis.plain import Pooled as Pooled, pool as pool, sample as sample
from lookalike.analysis.release import PublishedRelease as PublishedRelease, open_release as open_release
from lookalike.attacks.run import Attacks as Attacks
from lookalike.audit import Audit as Audit, Check as Check, Verdict as Verdict
from lookalike.checking import attack as attack, fidelity as fidelity, measure as measure, verify as verify
from lookalike.data.contracts import Promise as Promise
from lookalike.data.microdata import Microdata as Microdata, Table as Table
from lookalike.data.release import (
    Bucketized as Bucketized,
    Grouped as Grouped,
    Matched as Matched,
    Perturbed as Perturbed,
)
from lookalike.data.schema import Attribute as Attribute, Kind as Kind, Role as Role, Schema as Schema
from lookalike.errors import (
    AuditFailed as AuditFailed,
    DataError as DataError,
    Infeasible as Infeasible,
    LookalikeError as LookalikeError,
    MissingPart as MissingPart,
    RecipeError as RecipeError,
    SchemaError as SchemaError,
    Unsupported as Unsupported,
)
from lookalike.evaluation.advise import Advice as Advice, advise as advise
from lookalike.evaluation.compare import Comparison as Comparison, compare as compare
from lookalike.evaluation.fidelity import Fidelity as Fidelity
from lookalike.evaluation.inspect import (
    Inspection as Inspection,
    inspect as inspect,
    suggest_schema as suggest_schema,
)
from lookalike.files.tables import read_table as read_table
from lookalike.models import (
    AlphaK as AlphaK,
    BetaLikeness as BetaLikeness,
    DeltaDisclosure as DeltaDisclosure,
    FPrivacy as FPrivacy,
    KAnonymity as KAnonymity,
    KConcealment as KConcealment,
    LDiversity as LDiversity,
    RhoPrivacy as RhoPrivacy,
    TCloseness as TCloseness,
)
from lookalike.publication import Publication as Publication, publish as publish, synthesize as synthesize
from lookalike.version import __version__ as __version__
