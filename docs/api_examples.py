"""An example for every public name, in the order of the API reference; the tests run them on its page."""

from __future__ import annotations

GROUPS: dict[str, tuple[str, ...]] = {
    "Functions": (
        "publish",
        "verify",
        "inspect",
        "advise",
        "compare",
        "attack",
        "measure",
        "fidelity",
        "open_release",
        "sample",
        "pool",
        "synthesize",
        "apply_scheme",
        "read_scheme",
        "write_scheme",
        "read_table",
        "suggest_schema",
    ),
    "What functions return": (
        "Publication",
        "Audit",
        "Check",
        "Verdict",
        "Inspection",
        "Advice",
        "Comparison",
        "Attacks",
        "Fidelity",
        "PublishedRelease",
        "Estimate",
        "Statistic",
        "Pooled",
        "Synthesis",
    ),
    "Models": (
        "KAnonymity",
        "KConcealment",
        "AlphaK",
        "LDiversity",
        "TCloseness",
        "BetaLikeness",
        "DeltaDisclosure",
        "FPrivacy",
        "RhoPrivacy",
        "Promise",
    ),
    "Algorithms and synthesizers": ("Groups", "Mondrian", "StrictMondrian", "PrivBayes", "MST"),
    "Tables and schemas": ("Schema", "Attribute", "Role", "Kind", "Scheme", "Table", "Microdata"),
    "Forms of release": ("Grouped", "Matched", "Bucketized", "Perturbed"),
    "Errors": (
        "LookalikeError",
        "SchemaError",
        "DataError",
        "RecipeError",
        "Unsupported",
        "Infeasible",
        "AuditFailed",
        "MissingPart",
    ),
    "Version": ("__version__",),
}
"""The public names by what they are for."""

EXAMPLES: dict[str, str] = {
    "publish": """
>>> import lookalike as la
>>> made = la.publish("patients.csv", qi=["age", "sex"], sensitive="diagnosis",
...                   model=["k-anonymity:5", "l-diversity:3"], algorithm="mondrian")
>>> made.audit.passed, "report.html" in made.write("release", report="brief")
(True, True)
""",
    "verify": """
>>> audit = la.verify("patients.csv", "release")
>>> audit.passed, audit.n_rows
(True, 500)
""",
    "inspect": """
>>> found = la.inspect("patients.csv")
>>> found.n_rows, found.columns[0].name
(500, 'patient_id')
""",
    "advise": """
>>> advice = la.advise("patients.csv", trials=False)
>>> 0 < advice.largest_k <= 500
True
""",
    "compare": """
>>> compared = la.compare("patients.csv", qi="age", sensitive="diagnosis", models=["k-anonymity:5", "k-anonymity:20"],
...                       algorithms=["mondrian"], attacks=[])
>>> [run.status for run in compared.runs]
['done', 'done']
""",
    "attack": """
>>> attacks = la.attack("patients.csv", "release", attacks=["linkage"], seed=1)
>>> 0 <= attacks.made[0].finding.n_affected <= 500
True
""",
    "measure": """
>>> losses = la.measure("patients.csv", "release")
>>> 0 < losses["gcp"] < 1
True
""",
    "fidelity": """
>>> kept = la.fidelity("patients.csv", "release")
>>> len(kept.lines) > 3
True
""",
    "open_release": """
>>> release = la.open_release("release")
>>> release.columns
['age', 'sex', 'diagnosis']
""",
    "sample": """
>>> worlds = la.sample("release", worlds=3, seed=1)
>>> [world.height for world in worlds]
[500, 500, 500]
""",
    "pool": """
>>> pooled = la.pool([4.1, 4.3, 4.2], [0.04, 0.04, 0.05])
>>> round(float(pooled.estimate), 2)
4.2
""",
    "synthesize": """
>>> synthetic = la.synthesize("patients.csv", qi=["age", "sex"], sensitive="diagnosis", epsilon=1, seed=1)
>>> synthetic.frame().height
500
""",
    "apply_scheme": """
>>> strict = la.publish("patients.csv", qi="age", model="k-anonymity:20", algorithm="mondrian-strict")
>>> again = la.apply_scheme("patients.csv", strict.scheme(), model="k-anonymity:5")
>>> again.audit.passed
True
""",
    "write_scheme": """
>>> la.write_scheme("again.yaml", strict.scheme())
""",
    "read_scheme": """
>>> la.write_scheme("scheme.yaml", strict.scheme())
>>> la.read_scheme("scheme.yaml").promises
('k-anonymity:20',)
""",
    "read_table": """
>>> table = la.read_table("patients.csv")
>>> table.names[:3]
['patient_id', 'age', 'sex']
""",
    "suggest_schema": """
>>> suggested = la.suggest_schema(table)
>>> str(suggested.attributes[0].role)
'identifier'
""",
    "Publication": """
>>> type(made).__name__, made.summary()["rows"]
('Publication', 500)
""",
    "Audit": """
>>> audit.form, audit.n_suppressed
('grouped', 0)
""",
    "Check": """
>>> all(check.passed for check in audit.checks)
True
""",
    "Verdict": """
>>> [(verdict.model, verdict.passed) for verdict in audit.verdicts]
[('k-anonymity:5', True), ('l-diversity:3', True)]
""",
    "Inspection": """
>>> found.n_unique <= found.n_rows
True
""",
    "Advice": """
>>> isinstance(advice.notes, tuple)
True
""",
    "Comparison": """
>>> compared.runs[0].figures["gcp"] <= compared.runs[1].figures["gcp"]
True
""",
    "Attacks": """
>>> attacks.not_made
{}
""",
    "Fidelity": """
>>> kept.before_after is not None
True
""",
    "PublishedRelease": """
>>> release.query("SELECT COUNT(*) WHERE age > 60") == release.count({"age": (61, None)})
True
""",
    "Estimate": """
>>> estimate = release.count({"age": (61, None)})
>>> low, high = estimate.interval(0.95)
>>> low <= estimate.value <= high
True
""",
    "Statistic": """
>>> mean = release.mean("age")
>>> mean.least <= mean.low <= mean.value <= mean.high <= mean.most
True
""",
    "Pooled": """
>>> low, high = pooled.interval(0.95)
>>> bool(low < pooled.estimate < high)
True
""",
    "Synthesis": """
>>> str(synthetic.method).split(":")[0]
'privbayes'
""",
    "KAnonymity": """
>>> str(la.KAnonymity(10))
'k-anonymity:10'
""",
    "KConcealment": """
>>> la.KConcealment(3).asked
Fraction(3, 1)
""",
    "AlphaK": """
>>> str(la.AlphaK(alpha=0.5, k=5))
'alpha-k:alpha=0.5,k=5'
""",
    "LDiversity": """
>>> str(la.LDiversity(5, kind="entropy"))
'l-diversity:5,kind=entropy'
""",
    "TCloseness": """
>>> la.TCloseness("0.2", distance="ordered").t
Fraction(1, 5)
""",
    "BetaLikeness": """
>>> str(la.BetaLikeness(2, bound="basic"))
'beta-likeness:2,bound=basic'
""",
    "DeltaDisclosure": """
>>> str(la.DeltaDisclosure(1))
'delta-disclosure:1'
""",
    "FPrivacy": """
>>> str(la.FPrivacy(ceilings={"HIV": "0.05", "*": 0.5}))
'f-privacy:ceilings=*:0.5|HIV:0.05'
""",
    "RhoPrivacy": """
>>> str(la.RhoPrivacy(rho1="0.1", rho2="0.5"))
'rho-privacy:rho1=0.1,rho2=0.5'
""",
    "Promise": """
>>> str(la.Promise(la.LDiversity(2), "diagnosis"))
'diagnosis=l-diversity:2'
""",
    "Groups": """
>>> str(la.Groups(effort="best"))
'groups:effort=best'
""",
    "Mondrian": """
>>> str(la.Mondrian(cuts=5))
'mondrian:cuts=5'
""",
    "StrictMondrian": """
>>> str(la.StrictMondrian(cuts=5))
'mondrian-strict:cuts=5'
""",
    "PrivBayes": """
>>> str(la.PrivBayes("1.5", theta=6))
'privbayes:1.5,theta=6'
""",
    "MST": """
>>> str(la.MST("1.5", bins=32))
'mst:1.5,bins=32'
""",
    "Schema": """
>>> schema = la.Schema.of(qi=["age", "zip code"], sensitive=["diagnosis"])
>>> [attribute.name for attribute in schema.quasi]
['age', 'zip code']
""",
    "Attribute": """
>>> zip_code = la.Attribute(name="zip code", role=la.Role.QUASI, taxonomy={"prefixes": [3, 2]})
>>> schema.replace_attribute(zip_code).quasi[1].taxonomy
{'prefixes': [3, 2]}
""",
    "Role": """
>>> str(la.Role.QUASI)
'quasi-identifier'
""",
    "Kind": """
>>> str(la.Kind.NUMERIC)
'numeric'
""",
    "Scheme": """
>>> len(strict.scheme().parts) > 1
True
""",
    "Table": """
>>> len(table["age"].codes)
500
""",
    "Microdata": """
>>> data = la.Microdata.encode(table, la.Schema.of(qi=["age"], sensitive=["diagnosis"]))
>>> data.n_rows, data.quasi.shape
(500, (500, 1))
""",
    "Grouped": """
>>> isinstance(made.release, la.Grouped)
True
""",
    "Matched": """
>>> matched = la.publish("patients.csv", qi="age", model="k-anonymity:3", algorithm="freeform")
>>> isinstance(matched.release, la.Matched)
True
""",
    "Bucketized": """
>>> buckets = la.publish("patients.csv", qi="age", sensitive="diagnosis", model="l-diversity:2", algorithm="anatomy")
>>> isinstance(buckets.release, la.Bucketized)
True
""",
    "Perturbed": """
>>> noisy = la.publish("patients.csv", qi="age", sensitive="diagnosis", model="beta-likeness:4",
...                    algorithm="perturbation")
>>> isinstance(noisy.release, la.Perturbed)
True
""",
    "LookalikeError": """
>>> try:
...     la.publish("patients.csv", qi="age", model="k-anonymity:0")
... except la.LookalikeError as error:
...     print(type(error).__name__)
RecipeError
""",
    "SchemaError": """
>>> try:
...     la.publish("patients.csv", qi="zipcode", model="k-anonymity:5")
... except la.SchemaError as error:
...     print("zip code" in str(error))
True
""",
    "DataError": """
>>> try:
...     la.read_table("nowhere.csv")
... except la.DataError as error:
...     print("There is no file" in str(error))
True
""",
    "RecipeError": """
>>> try:
...     la.KAnonymity(-1)
... except la.RecipeError as error:
...     print("k-anonymity" in str(error))
True
""",
    "Unsupported": """
>>> try:
...     la.publish("patients.csv", qi="age", sensitive="diagnosis", model="t-closeness:0.2", algorithm="burel")
... except la.Unsupported as error:
...     print("burel" in str(error))
True
""",
    "Infeasible": """
>>> try:
...     la.publish("patients.csv", qi="age", sensitive="diagnosis", model="l-diversity:50")
... except la.Infeasible as error:
...     print(error.nearest)
l-diversity:7
""",
    "AuditFailed": """
>>> issubclass(la.AuditFailed, la.LookalikeError)
True
""",
    "MissingPart": """
>>> issubclass(la.MissingPart, la.LookalikeError)
True
""",
    "__version__": """
>>> la.__version__.count(".")
2
""",
}
