"""A guard in process, without any configuration and without a framework."""

from customshouse import BlockedError, guarded_tool, quickstart

guard = quickstart()
sent = []


@guarded_tool(guard=guard)
def send_mail(to: str, body: str) -> str:
    """Sends a mail."""
    sent.append(body)
    return f"Sent to {to}."


# The arguments hold a secret, so the call is blocked and the tool does not run.
try:
    send_mail("team", "Use key sk-ABCDEF1234567890")
except BlockedError as error:
    print(f"Blocked by {error.rule}: {error.reason}")
assert sent == [], "the tool ran"

# Without it the tool runs. An address in an answer is masked.
assert send_mail("team", "Hello") == "Sent to team."
answer = guard.protect.output("Mail jane.doe@corp-mail.io for details.")
assert answer == "Mail [REDACTED] for details."
guard.close()
print(f"The tool ran {len(sent)} time. The answer: {answer}")
