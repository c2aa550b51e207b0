"""The public names, and where each is. `__init__.py` reads this list and loads a name when it is first used."""

from lookalike import spark as spark
from lookalike.algorithms import Groups as Groups
from lookalike.algorithms import Mondrian as Mondrian
from lookalike.algorithms import StrictMondrian as StrictMondrian
from lookalike.algorithms.privbayes import PrivBayes as PrivBayes
from lookalike.algorithms.privbayes.synthesis import Synthesis as Synthesis
from lookalike.analysis.estimate import Estimate as Estimate
from lookalike.analysis.plain import Pooled as Pooled
from lookalike.analysis.plain import pool as pool
from lookalike.analysis.plain import sample as sample
from lookalike.analysis.release import PublishedRelease as PublishedRelease
from lookalike.analysis.release import open_release as open_release
from lookalike.attacks.run import Attacks as Attacks
from lookalike.audit import Audit as Audit
from lookalike.audit import Check as Check
from lookalike.audit import Verdict as Verdict
from lookalike.checking import attack as attack
from lookalike.checking import fidelity as fidelity
from lookalike.checking import measure as measure
from lookalike.checking import verify as verify
from lookalike.data.contracts import Promise as Promise
from lookalike.data.microdata import Microdata as Microdata
from lookalike.data.microdata import Table as Table
from lookalike.data.release import (
    Bucketized as Bucketized,
)
from lookalike.data.release import (
    Grouped as Grouped,
)
from lookalike.data.release import (
    Matched as Matched,
)
from lookalike.data.release import (
    Perturbed as Perturbed,
)
from lookalike.data.schema import Attribute as Attribute
from lookalike.data.schema import Kind as Kind
from lookalike.data.schema import Role as Role
from lookalike.data.schema import Schema as Schema
from lookalike.errors import (
    AuditFailed as AuditFailed,
)
from lookalike.errors import (
    DataError as DataError,
)
from lookalike.errors import (
    Infeasible as Infeasible,
)
from lookalike.errors import (
    LookalikeError as LookalikeError,
)
from lookalike.errors import (
    MissingPart as MissingPart,
)
from lookalike.errors import (
    RecipeError as RecipeError,
)
from lookalike.errors import (
    SchemaError as SchemaError,
)
from lookalike.errors import (
    Unsupported as Unsupported,
)
from lookalike.evaluation.advise import Advice as Advice
from lookalike.evaluation.compare import Comparison as Comparison
from lookalike.evaluation.compare import compare as compare
from lookalike.evaluation.fidelity import Fidelity as Fidelity
from lookalike.evaluation.inspect import Inspection as Inspection
from lookalike.evaluation.inspect import suggest_schema as suggest_schema
from lookalike.files.tables import read_table as read_table
from lookalike.models import (
    AlphaK as AlphaK,
)
from lookalike.models import (
    BetaLikeness as BetaLikeness,
)
from lookalike.models import (
    DeltaDisclosure as DeltaDisclosure,
)
from lookalike.models import (
    FPrivacy as FPrivacy,
)
from lookalike.models import (
    KAnonymity as KAnonymity,
)
from lookalike.models import (
    KConcealment as KConcealment,
)
from lookalike.models import (
    LDiversity as LDiversity,
)
from lookalike.models import (
    RhoPrivacy as RhoPrivacy,
)
from lookalike.models import (
    TCloseness as TCloseness,
)
from lookalike.publication import (
    Publication as Publication,
)
from lookalike.publication import (
)
from lookalike.publication import (
    advise as advise,
)
from lookalike.publication import (
    inspect as inspect,
)
from lookalike.publication import (
    publish as publish,
)
from lookalike.publication import (
    synthesize as synthesize,
)
from lookalike.version import __version__ as __version__
