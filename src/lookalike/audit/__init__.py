"""The audit: a release held against its promises by someone who trusts nothing.

It takes the adversary's seat: everything is worked out from what is published and the original table, exactly, with
no code shared with the algorithms and without the record map. `verify` checks that the release is about this table at
all, that a row exists for every record, that row order gives nothing away, and what each promise comes to.

A release that nobody holds as a whole is audited in parts: `audit_part` where the rows are, `join_audits` elsewhere.
"""

from lookalike.audit.carried import CarriedRisk, join_carried, measure_carried
from lookalike.audit.conditioning import Conditioned, condition
from lookalike.audit.exposures import expose
from lookalike.audit.joining import JoinedAudit, join_audits
from lookalike.audit.parts import PartAudit, audit_part
from lookalike.audit.verdicts import Audit, Check, ExactColumn, Grounds, Verdict
from lookalike.audit.verify import Examined, examine, examine_knowing, name_kernels, public_audit, shows_beliefs, verify

__all__ = [
    "Audit",
    "CarriedRisk",
    "Check",
    "Conditioned",
    "ExactColumn",
    "Examined",
    "Grounds",
    "JoinedAudit",
    "PartAudit",
    "Verdict",
    "audit_part",
    "condition",
    "examine",
    "examine_knowing",
    "expose",
    "join_audits",
    "join_carried",
    "measure_carried",
    "name_kernels",
    "public_audit",
    "shows_beliefs",
    "verify",
]
