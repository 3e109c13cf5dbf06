"""Guards agents of Claude Agent SDK. Needs the package `customshouse`.

    from service_claude_agent import guarded_query, hooks

    async for message in guarded_query("What is the weather?", ClaudeAgentOptions(hooks=hooks)): ...

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.claude_agent import guard_hooks, guarded_query

hooks = guard_hooks()
__all__ = ["guarded_query", "hooks"]
