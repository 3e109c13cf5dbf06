"""The advisors of the service. They see metadata only, and nothing that they propose takes effect by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Answer = dict[str, Any]
Project = Mapping[str, Any]
"""The names in a project: `{"tools": [{"name": "send_mail", "parameters": ["to"]}], "agents": ["bot"]}`."""


def _describe(project: Project | None, path: str | None) -> Answer:
    subject = {"project": None if project is None else dict(project), "path": path}
    return {name: value for name, value in subject.items() if value is not None}


class Intelligence:
    """Asks the advisors. Each method raises `AIBackendNotConfiguredError` if there is no model back end."""

    def __init__(self, ask: Callable[[str, Answer], Answer]) -> None:
        self._ask = ask

    def auto_config(self, project: Project | None = None, *, path: str | None = None) -> Answer:
        """Propose a configuration for a project: its names, or the path of a folder on the service's machine."""
        return self._ask("auto_config", _describe(project, path))

    def recommend(self, since: str = "7d") -> Answer:
        """Propose improvements of the policy from the audit log of a period before now."""
        return self._ask("recommend", {"since": since})

    def explain(self, event_id: str) -> Answer:
        """Explain one audit event."""
        return self._ask("explain", {"event_id": event_id})

    def compliance(self, framework: str = "hipaa") -> Answer:
        """Propose a policy for a compliance framework: `hipaa`, `pci-dss`, `soc2`, `gdpr` and others."""
        return self._ask("compliance", {"framework": framework})

    def integrate(self, target: str, project: Project | None = None, *, path: str | None = None) -> Answer:
        """Propose the code that connects a framework to a project, which is described as for `auto_config`."""
        return self._ask("integrate", {"target": target, **_describe(project, path)})


class AsyncIntelligence:
    """`Intelligence` for asyncio."""

    def __init__(self, ask: Callable[[str, Answer], Awaitable[Answer]]) -> None:
        self._ask = ask

    async def auto_config(self, project: Project | None = None, *, path: str | None = None) -> Answer:
        """Propose a configuration for a project: its names, or the path of a folder on the service's machine."""
        return await self._ask("auto_config", _describe(project, path))

    async def recommend(self, since: str = "7d") -> Answer:
        """Propose improvements of the policy from the audit log of a period before now."""
        return await self._ask("recommend", {"since": since})

    async def explain(self, event_id: str) -> Answer:
        """Explain one audit event."""
        return await self._ask("explain", {"event_id": event_id})

    async def compliance(self, framework: str = "hipaa") -> Answer:
        """Propose a policy for a compliance framework: `hipaa`, `pci-dss`, `soc2`, `gdpr` and others."""
        return await self._ask("compliance", {"framework": framework})

    async def integrate(self, target: str, project: Project | None = None, *, path: str | None = None) -> Answer:
        """Propose the code that connects a framework to a project, which is described as for `auto_config`."""
        return await self._ask("integrate", {"target": target, **_describe(project, path)})
