"""Runs statements of SQL from standard input, a JSON list, in ClickHouse's engine, and prints the rows of the last."""

import json
import sys

from chdb import session

engine = session.Session()
for statement in json.load(sys.stdin):
    rows = engine.query(statement, "JSON")
print(rows)
