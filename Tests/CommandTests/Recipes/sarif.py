"""Checks that a report fits the schema of SARIF 2.1.0: python sarif.py FILE; prints what does not."""

import sys

import pydantic
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Log

try:
    Log.model_validate_json(open(sys.argv[1], "rb").read())
except pydantic.ValidationError as error:
    for problem in error.errors():
        print(".".join(str(part) for part in problem["loc"]), problem["type"])
    sys.exit(1)
