"""Puts the guard before a service with faults: each name is a text, and what comes back is what was refused or let through."""

import json
import sys

from guard import Guard, Refused

outcomes = {}
for name in sys.argv[2:]:
    guard = Guard(url=sys.argv[1], timeout_seconds=2, key="k-1")
    try:
        outcomes[name] = f"passed: {guard.check_input(name)}"
    except Refused as refused:
        outcomes[name] = str(refused)
print(json.dumps(outcomes))
