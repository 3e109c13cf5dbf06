"""Calls a tool that needs a person, once for each argument, and prints what came of it."""

import json
import sys

from guard import Guard, Refused

guard = Guard(agent_id="shop", approval_seconds=float(sys.argv[1]))
outcomes = []
for order in sys.argv[2:]:
    try:
        outcomes.append(guard.check_call("issue_refund", {"order": order})["order"])
    except Refused as refused:
        outcomes.append(str(refused))
print(json.dumps(outcomes))
