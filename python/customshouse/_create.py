"""Creates guards."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._engine import shared_engine
from ._journal import JOURNAL_BYTES_MAX, Journal
from ._local import LocalBackend
from ._policy_files import read_policy_files
from ._report import Reporter, ReportOptions
from .errors import CustomshouseError
from .guard import Guard, OnApproval, read_options

if TYPE_CHECKING:
    from ._client import OnUnavailable

Path = str | os.PathLike[str]


def quickstart(
    *,
    block_secrets: bool = True,
    redact_pii: bool = True,
    block_pii: bool = False,
    custom_rules: Sequence[dict[str, Any]] = (),
    audit_path: Path | None = None,
    **options: Any,
) -> Guard:
    """Return a guard that works without any configuration.

    It decides in this process by the built-in policy, which blocks secrets in inputs and tool calls and masks secrets
    and personal data in outputs and results. `block_pii` blocks personal data instead of masking it; it wins over
    `redact_pii`. `custom_rules` are rules before the built-in ones, as in `policies` of service.yaml. The decisions
    are written to `audit_path`, by default a new file in `$XDG_STATE_HOME/customshouse` or `~/.local/state/customshouse`,
    where old ones are deleted when there are more than 100 or 1 GiB of them. `options` are those of
    `create_local_guard`.
    """
    config: dict[str, Any] = {
        "secret_detection": {"enabled": block_secrets},
        "pii_protection": {"enabled": redact_pii or block_pii, "action": "block" if block_pii else "redact"},
        "policies": list(custom_rules),
    }
    return create_local_guard(policy={"config": config}, audit_path=audit_path, **options)


def create_local_guard(
    config: Path | None = None,
    *,
    policy: dict[str, Any] | None = None,
    audit_path: Path | None = None,
    audit_bytes_max: int = JOURNAL_BYTES_MAX,
    record: Callable[[dict[str, Any]], None] | None = None,
    service: Guard | None = None,
    report: ReportOptions | None = None,
    agent_id: str | None = None,
    session_id: str | None = "",
    tenant_id: str | None = None,
    raise_on_block: bool = False,
    on_approval: OnApproval = "wait",
    approval_timeout_seconds: float | None = None,
) -> Guard:
    """Return a guard that decides in this process with the policy files of a service.

    `config` is the path of service.yaml; the documents that it names are read too. `policy` is the same as plain
    data: `{"config": {...}, "documents": [{"file": name, "value": {...}}]}`. Without either, the built-in policy is
    used. Each decision is written to the journal before it is given; `record` receives it too. `service` is a client
    guard that decides on calls that need state: approvals and capability tokens. Without it such a call is blocked.
    `report` sends the decisions to the audit log of a service; then there is a journal only if `audit_path` names one.

    Raises `PolicyLoadError` if the policy has mistakes, or needs what only a service has.
    """
    if config is not None and policy is not None:
        raise CustomshouseError("Pass `config` or `policy`, not both.")
    engine = shared_engine()
    source = policy or {}
    if config is not None:
        source = read_policy_files(config, engine)
    options = read_options(agent_id, session_id, tenant_id, raise_on_block, on_approval, approval_timeout_seconds)
    backend = None if service is None else service._guarding.backend
    reporter = None if report is None else Reporter(report, options.agent_id, options.tenant_id)
    journal = None if reporter is not None and audit_path is None else Journal(audit_path, audit_bytes_max)
    return Guard(LocalBackend(source, journal, backend, engine, record, reporter), options)


def from_config(path: Path, **options: Any) -> Guard:
    """Return a local guard with the policy of a service.yaml. `options` are those of `create_local_guard`."""
    return create_local_guard(path, **options)


def create_client_guard(
    url: str | None = None,
    *,
    key: str | None = None,
    timeout_seconds: float = 10.0,
    on_unavailable: OnUnavailable = "block",
    agent_id: str | None = None,
    session_id: str | None = "",
    tenant_id: str | None = None,
    raise_on_block: bool = False,
    on_approval: OnApproval = "wait",
    approval_timeout_seconds: float | None = None,
) -> Guard:
    """Return a guard that asks a service.

    `url` is by default `SERVICE_URL`, else `http://127.0.0.1:8000`; `key` is by default `SERVICE_KEY`. A check blocks
    if the service cannot be reached within `timeout_seconds`, refuses, or answers garbage. With
    `on_unavailable="allow"` agents run without any check while the service is away; a service that refuses always
    blocks.
    """
    # Imported here, because a local guard has no use for an HTTP client.
    from ._client import ClientBackend

    options = read_options(agent_id, session_id, tenant_id, raise_on_block, on_approval, approval_timeout_seconds)
    return Guard(ClientBackend(url, key, timeout_seconds, on_unavailable), options)


def default_guard(agent_id: str) -> Guard:
    """Return the guard that adapters use when none is passed.

    It asks the service at `SERVICE_URL` if that is set. Else it decides in this process: with `SERVICE_CONFIG`, or by
    the built-in policy.
    """
    if os.environ.get("SERVICE_URL"):
        return create_client_guard(agent_id=os.environ.get("SERVICE_AGENT_ID") or agent_id)
    return create_local_guard(
        os.environ.get("SERVICE_CONFIG") or None, agent_id=os.environ.get("SERVICE_AGENT_ID") or agent_id
    )
