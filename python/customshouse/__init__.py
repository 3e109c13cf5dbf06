"""Runtime safety for AI agents: rules decide what enters an agent, what it does, and what leaves it.

    from customshouse import quickstart

    guard = quickstart()
    verdict = guard.input("Use key sk-...")
    print(verdict.decision, verdict.reason)
"""

from ._create import create_client_guard, create_local_guard, default_guard, from_config, quickstart
from ._report import ReportOptions, ReportStatus
from ._version import __version__
from .errors import (
    CustomshouseError,
    AIBackendNotConfiguredError,
    ApprovalRequiredError,
    BlockedError,
    PolicyLoadError,
    ServiceRefusedError,
    ServiceRequiredError,
    ServiceUnavailableError,
    ToolError,
)
from .guard import AsyncGuard, Guard, GuardStream
from .intelligence import AsyncIntelligence, Intelligence
from .tools import guarded_tool
from .verdict import Approval, Verdict, Violation

__all__ = [
    "AIBackendNotConfiguredError",
    "CustomshouseError",
    "Approval",
    "ApprovalRequiredError",
    "AsyncGuard",
    "AsyncIntelligence",
    "BlockedError",
    "Guard",
    "GuardStream",
    "Intelligence",
    "PolicyLoadError",
    "ReportOptions",
    "ReportStatus",
    "ServiceRefusedError",
    "ServiceRequiredError",
    "ServiceUnavailableError",
    "ToolError",
    "Verdict",
    "Violation",
    "__version__",
    "create_client_guard",
    "create_local_guard",
    "default_guard",
    "from_config",
    "guarded_tool",
    "quickstart",
]
