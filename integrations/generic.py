"""Guards Python code without an agent framework. Needs the package `customshouse`.

    from service_generic import guard, guarded_tool

    @guarded_tool
    def send_email(to: str, body: str) -> str: ...

    prompt = guard.protect.input(prompt)    # raises BlockedError; returns the text that may be sent
    answer = guard.protect.output(answer)

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse import default_guard, guarded_tool

guard = default_guard("generic")
__all__ = ["guard", "guarded_tool"]
