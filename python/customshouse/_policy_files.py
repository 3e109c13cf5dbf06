"""Reads `service.yaml` and the documents that it names."""

from __future__ import annotations

import json
import os
import re
from glob import glob
from pathlib import Path
from typing import Any

from ._engine import Engine
from .errors import PolicyLoadError

FILE_BYTES_MAX = 4_194_304
FILES_MAX = 2_000
PATTERNS = {
    "policy_files": ["policies/*.yaml"],
    "contract_files": ["contracts/*.yaml"],
    "identity_files": [],
    "memory_schema_files": ["schemas/*.yaml"],
}
MAGIC = re.compile(r"[*?]")
UNSUPPORTED = re.compile(r"[\[\]{}()!]")


def read_policy_files(path: str | os.PathLike[str], engine: Engine) -> dict[str, Any]:
    """Return the policy source of a configuration. Raises `PolicyLoadError` if a file cannot be used."""
    file = Path(path)
    label = os.fspath(path)
    documents = _read_yaml(file, label, engine)
    config = documents[0] if documents else {}
    if config is None:
        config = {}
    if not isinstance(config, dict):
        raise PolicyLoadError([f"{label}: must be a mapping"])
    folder = file.resolve().parent
    state_dir = folder / str(config.get("state_dir") or ".service")
    if _has_managed_policy(state_dir / "managed-policy.json"):
        raise PolicyLoadError(
            [
                f"{label}: rules of this service are saved over its API, which a local guard cannot read. "
                "Use `create_client_guard`."
            ]
        )
    found: dict[str, None] = {}
    paths = config.get("paths") or {}
    for name, default in PATTERNS.items():
        for pattern in paths.get(name, default) if isinstance(paths, dict) else []:
            found.update(dict.fromkeys(_find_files(str(pattern), folder, label)))
    if len(found) > FILES_MAX:
        raise PolicyLoadError([f"{label}: `paths` names more than {FILES_MAX} files"])
    values = [
        {"file": os.path.relpath(each, folder), "value": value}
        for each in found
        for value in _read_yaml(Path(each), os.path.relpath(each, folder), engine)
    ]
    return {"config": config, "documents": values, "file": label}


def _has_managed_policy(path: Path) -> bool:
    """Return whether rules were saved over the API. A copy that cannot be read counts as one that has rules."""
    try:
        saved = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return not isinstance(saved, dict) or any(saved.values())


def _find_files(pattern: str, folder: Path, label: str) -> list[str]:
    full = os.path.join(folder, pattern)
    if UNSUPPORTED.search(pattern):
        raise PolicyLoadError([f"{label}: the pattern `{pattern}` of `paths` may use `*`, `**` and `?` only"])
    if not MAGIC.search(pattern):
        return [full]
    files = sorted(each for each in glob(full, recursive=True) if os.path.isfile(each))
    return [each for each in files if not re.search(r"\.test\.ya?ml$", each)]


def _read_yaml(path: Path, label: str, engine: Engine) -> list[Any]:
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise PolicyLoadError([f"{label}: has more than {FILE_BYTES_MAX} bytes"])
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise PolicyLoadError([f"{label}: does not exist, or this user may not read it as UTF-8"]) from None
    answer = json.loads(engine.call("parseYaml", text))
    if "error" in answer:
        raise PolicyLoadError([f"{label}: {answer['error']}"])
    values: list[Any] = answer["ok"]
    return values
