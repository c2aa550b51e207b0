"""The public names, and where each is. `__init__.py` reads this list and loads a name when it is first used."""

from lookalike import spark as spark
from lookalike.algorithms.groups import Groups as Groups
from lookalike.algorithms.mondrian import Mondrian as Mondrian
from lookalike.algorithms.mondrian_strict import StrictMondrian as StrictMondrian
from lookalike.algorithms.mst import MST as MST
from lookalike.algorithms.privbayes import PrivBayes as PrivBayes
from lookalike.algorithms.shared.synthesis import Synthesis as Synthesis
from lookalike.analysis.counts import Estimate as Estimate
from lookalike.analysis.measuring import Statistic as Statistic
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
from lookalike.data.scheme import Scheme as Scheme
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
from lookalike.files.schemes import read_scheme as read_scheme, write_scheme as write_scheme
from lookalike.files.tables import read_table as read_table
from lookalike.models.alpha_k import AlphaK as AlphaK
from lookalike.models.beta_likeness import BetaLikeness as BetaLikeness
from lookalike.models.delta_disclosure import DeltaDisclosure as DeltaDisclosure
from lookalike.models.f_privacy import FPrivacy as FPrivacy
from lookalike.models.k_anonymity import KAnonymity as KAnonymity
from lookalike.models.k_concealment import KConcealment as KConcealment
from lookalike.models.l_diversity import LDiversity as LDiversity
from lookalike.models.rho_privacy import RhoPrivacy as RhoPrivacy
from lookalike.models.t_closeness import TCloseness as TCloseness
from lookalike.publication import Publication as Publication, publish as publish, synthesize as synthesize
from lookalike.schemes import apply_scheme as apply_scheme
from lookalike.version import __version__ as __version__
