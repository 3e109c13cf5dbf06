"""The advisors of the service. They see metadata only, and nothing that they propose takes effect by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

Answer = dict[str, Any]


class Intelligence:
    """Asks the advisors. Each method raises `AIBackendNotConfiguredError` if there is no model back end."""

    def __init__(self, ask: Callable[[str, Answer], Answer]) -> None:
        self._ask = ask

    def auto_config(self, path: str = ".") -> Answer:
        """Propose a configuration for a project."""
        return self._ask("auto_config", {"path": path})

    def recommend(self, since: str = "7d") -> Answer:
        """Propose improvements of the policy from the audit log of the last time."""
        return self._ask("recommend", {"since": since})

    def explain(self, event_id: str) -> Answer:
        """Explain one audit event."""
        return self._ask("explain", {"event_id": event_id})

    def compliance(self, framework: str = "hipaa") -> Answer:
        """Propose a policy for HIPAA, PCI-DSS, SOC2 or GDPR."""
        return self._ask("compliance", {"framework": framework})

    def integrate(self, target: str, path: str = ".") -> Answer:
        """Propose the code that connects a framework."""
        return self._ask("integrate", {"target": target, "path": path})


class AsyncIntelligence:
    """`Intelligence` for asyncio."""

    def __init__(self, ask: Callable[[str, Answer], Awaitable[Answer]]) -> None:
        self._ask = ask

    async def auto_config(self, path: str = ".") -> Answer:
        """Propose a configuration for a project."""
        return await self._ask("auto_config", {"path": path})

    async def recommend(self, since: str = "7d") -> Answer:
        """Propose improvements of the policy from the audit log of the last time."""
        return await self._ask("recommend", {"since": since})

    async def explain(self, event_id: str) -> Answer:
        """Explain one audit event."""
        return await self._ask("explain", {"event_id": event_id})

    async def compliance(self, framework: str = "hipaa") -> Answer:
        """Propose a policy for HIPAA, PCI-DSS, SOC2 or GDPR."""
        return await self._ask("compliance", {"framework": framework})

    async def integrate(self, target: str, path: str = ".") -> Answer:
        """Propose the code that connects a framework."""
        return await self._ask("integrate", {"target": target, "path": path})
