"""Guards functions that agents call as tools."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

from ._create import default_guard
from ._tool_error import run_tool, run_tool_async
from .errors import BlockedError
from .guard import Guard

# Parameters of methods, which are no arguments of a call.
RECEIVERS = ("self", "cls")

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def guarded_tool(function: Function) -> Function: ...


@overload
def guarded_tool(
    *, guard: Guard | None = None, name: str | None = None, refuse_as_text: bool = False
) -> Callable[[Function], Function]: ...


def guarded_tool(
    function: Callable[..., Any] | None = None,
    *,
    guard: Guard | None = None,
    name: str | None = None,
    refuse_as_text: bool = False,
) -> Any:
    """Guard a function that an agent calls as a tool, sync or async.

    The call is checked before the function runs, and its result before the agent sees it. A blocked call does not
    run: it raises `BlockedError`, or returns the reason as text with `refuse_as_text`. If the function fails, its error
    is checked as a result, and raised as it is or as `ToolError` with masked text. Generators are refused,
    because their results would leave unchecked.
    """
    if function is None:
        return functools.partial(guarded_tool, guard=guard, name=name, refuse_as_text=refuse_as_text)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError("A generator cannot be guarded as a tool. Return a list, or guard the text with `guard.stream`.")
    return guard_function(function, guard, name or str(getattr(function, "__name__", "tool")), refuse_as_text)


def guard_function(
    function: Callable[..., Any], guard: Guard | None, name: str, refuse_as_text: bool = False
) -> Callable[..., Any]:
    """Return the function behind a guard, with the same signature."""
    signature = inspect.signature(function)
    guards: list[Guard] = [] if guard is None else [guard]

    def current() -> Guard:
        if not guards:
            guards.append(default_guard("agent"))
        return guards[0]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        own = current()
        try:
            put_arguments(bound, own.protect.tool(name, get_arguments(bound)))
            result = run_tool(own.protect, name, lambda: function(*bound.args, **bound.kwargs))
            return own.protect.tool_result(name, result)
        except BlockedError as error:
            if refuse_as_text:
                return refusal_text(error)
            raise

    @functools.wraps(function)
    async def call_async(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        own = current()
        try:
            put_arguments(bound, await own.aio.protect.tool(name, get_arguments(bound)))
            result = await run_tool_async(own.aio.protect, name, lambda: function(*bound.args, **bound.kwargs))
            return await own.aio.protect.tool_result(name, result)
        except BlockedError as error:
            if refuse_as_text:
                return refusal_text(error)
            raise

    return call_async if inspect.iscoroutinefunction(function) else call


def get_arguments(bound: inspect.BoundArguments) -> dict[str, Any]:
    """Return the arguments of a call by name. Those of `**kwargs` are on the same level; `self` is left out."""
    arguments: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if name in RECEIVERS and name == next(iter(bound.signature.parameters)):
            continue
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            arguments.update(value)
        else:
            arguments[name] = value
    return arguments


def put_arguments(bound: inspect.BoundArguments, allowed: dict[str, Any]) -> None:
    """Put the allowed arguments in the place of those of a call. Arguments that a rule removed are left out."""
    first = next(iter(bound.signature.parameters), None)
    arguments: dict[str, Any] = {}
    rest = dict(allowed)
    for name, parameter in bound.signature.parameters.items():
        if name in RECEIVERS and name == first:
            arguments[name] = bound.arguments[name]
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            arguments[name] = {}
        elif name in rest:
            value = rest.pop(name)
            is_rest = parameter.kind is inspect.Parameter.VAR_POSITIONAL
            arguments[name] = tuple(value) if is_rest else value
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            arguments[name] = rest
    bound.arguments = arguments
    bound.apply_defaults()


def with_notice(error: BlockedError) -> BlockedError:
    """Return the error with the notice as its message, because the framework shows the message to the model."""
    error.args = (refusal_text(error),)
    return error


def refusal_text(error: BlockedError) -> str:
    """Return the notice that a model receives for a blocked tool call."""
    return f"Blocked by the rule {error.rule}: {error.reason} Do not try again."
