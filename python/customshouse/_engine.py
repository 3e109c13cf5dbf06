"""The decision engine: the core of the service, as one script in an embedded V8.

All calls run on one separate thread, because an isolate of V8 belongs to a thread. `jsrun` is used where it has
wheels, because a call costs it a tenth of what it costs `mini-racer`, which has wheels for all systems.
"""

from __future__ import annotations

import _thread
import json
import os
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._snapshot import open_snapshot
from .errors import CustomshouseError

FUNCTIONS = ("check", "compile", "parseYaml", "version", "openStream", "pushStream", "endStream", "closeStream")
HEAP_BYTES_MAX = 1_073_741_824
TEXT_BYTES_MAX = 268_435_456
SCRIPT = Path(__file__).parent / "_core" / "core.js"

Call = Callable[..., str]


class EngineError(CustomshouseError):
    """The engine could not run. Checks block then."""


def load_script() -> str:
    """Return the script of the core that belongs to this package."""
    try:
        return SCRIPT.read_text("utf-8")
    except FileNotFoundError:
        raise EngineError(
            "This installation has no decision engine. Install the wheel, or run `npm run build:python` in a checkout."
        ) from None


def _open_jsrun() -> dict[str, Call]:
    import jsrun

    snapshot = _open_jsrun_snapshot()
    config = jsrun.RuntimeConfig(
        max_heap_size=HEAP_BYTES_MAX, max_serialization_bytes=TEXT_BYTES_MAX, snapshot=snapshot
    )
    runtime = jsrun.Runtime(config)
    if snapshot is None:
        runtime.eval(load_script())
    return {name: runtime.eval(f"customshouse.{name}") for name in FUNCTIONS}


def _open_jsrun_snapshot() -> bytes | None:
    """Return the heap of V8 after the script ran; `None` if there is no snapshot and none can be kept."""
    import jsrun

    def build() -> bytes:
        builder = jsrun.SnapshotBuilder()
        builder.execute_script("core.js", load_script())
        # The modules that compile a policy run at the first one.
        builder.execute_script("compile.js", "customshouse.compile('{\"config\":{}}')")
        return bytes(builder.build())

    try:
        return open_snapshot(SCRIPT, Path(jsrun._jsrun.__file__), build)
    # Without a snapshot the script runs, and raises what is wrong with it.
    except Exception:
        return None


def _open_mini_racer() -> dict[str, Call]:
    from py_mini_racer import MiniRacer

    context = MiniRacer()
    context.eval(load_script())

    def caller(name: str) -> Call:
        # A script is a third faster than a call, which converts each argument separately.
        return lambda *values: context.eval(f"customshouse.{name}({','.join(map(json.dumps, values))})")  # type: ignore[return-value]

    return {name: caller(name) for name in FUNCTIONS}


_OPENERS = {"jsrun": _open_jsrun, "mini_racer": _open_mini_racer}


def _open_functions(engine: str | None) -> dict[str, Call]:
    names = [engine] if engine else list(_OPENERS)
    for name in names:
        try:
            return _OPENERS[name]()
        except ImportError:
            continue
    raise EngineError("No JavaScript engine is installed. Install one: `pip install jsrun` or `pip install mini-racer`.")


class Engine:
    """Runs the functions of the core on a separate thread. It may be called from every thread."""

    def __init__(self, engine: str | None = None) -> None:
        self._pid = os.getpid()
        self._calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
        name = engine or os.environ.get("CUSTOMSHOUSE_ENGINE") or None
        if name is not None and name not in _OPENERS:
            raise EngineError(f"`CUSTOMSHOUSE_ENGINE` must be one of {', '.join(_OPENERS)}.")
        started: list[Any] = [None, None, _thread.allocate_lock()]
        started[2].acquire()
        thread = threading.Thread(target=self._work, args=(name, started), name="customshouse", daemon=True)
        thread.start()
        started[2].acquire()
        if started[1] is not None:
            raise started[1]

    def call(self, function: str, *values: Any) -> str:
        """Call a function of the core. Raises `EngineError` if it cannot answer."""
        if self._pid != os.getpid():
            raise EngineError(
                "This process was forked after the guard had been created. Create the guard in each process."
            )
        box: list[Any] = [None, None, _thread.allocate_lock()]
        box[2].acquire()
        self._calls.put((function, values, box))
        box[2].acquire()
        if box[1] is not None:
            raise box[1]
        answer: str = box[0]
        return answer

    def _work(self, engine: str | None, started: list[Any]) -> None:
        try:
            functions = _open_functions(engine)
        except BaseException as error:
            started[1] = error if isinstance(error, EngineError) else EngineError(_describe(error))
            started[2].release()
            return
        started[2].release()
        while True:
            function, values, box = self._calls.get()
            try:
                answer = functions[function](*values)
                if not isinstance(answer, str):
                    raise EngineError("The decision engine gave no answer.")
                box[0] = answer
            # A fault inside the engine may be of any kind; it must neither end the thread nor let a call wait.
            except BaseException as error:
                box[1] = error if isinstance(error, EngineError) else EngineError(_describe(error))
            box[2].release()
            # What was judged must not stay in memory until the next call.
            del function, values, box


def _describe(error: BaseException) -> str:
    # The text of a foreign error may quote what was judged.
    return f"The decision engine failed ({type(error).__name__})."


_shared: Engine | None = None
_shared_lock = threading.Lock()


def shared_engine() -> Engine:
    """Return the engine of this process. It is started at the first call."""
    global _shared
    with _shared_lock:
        if _shared is None or _shared._pid != os.getpid():
            _shared = Engine()
        return _shared


def _forget_lock() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
