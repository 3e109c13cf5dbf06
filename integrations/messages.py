"""Messages of LangChain and LangGraph, judged one by one. Needs langchain-core 1.0 or later."""

from guard import Guard, Refused

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.types import Command


def changed_message(message, text):
    """The message with another text, or none where it is the same."""
    return [] if text == message.text else [message.model_copy(update={"content": text})]


def new_questions(messages):
    """What people have said since the model last spoke."""
    found = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, HumanMessage):
            found.append(message)
    return found


def checked_input(guard, messages):
    """Updates for messages that are to be masked. Raises Refused."""
    return [each for one in new_questions(messages) for each in changed_message(one, guard.check_input(one.text))]


def checked_output(guard, messages):
    """An update for the last answer of the model, where it is to be masked. Raises Refused."""
    last = messages[-1] if messages else None
    if not isinstance(last, AIMessage) or not last.text:
        return []
    return changed_message(last, guard.check_output(last.text))


def refusal(call, refused):
    """What the model is told of a call that was refused."""
    return ToolMessage(content=str(refused), tool_call_id=call["id"], name=call["name"], status="error")


def allowed_request(guard, request):
    """The request with the arguments that may be used. Raises Refused."""
    call = request.tool_call
    return request.override(tool_call={**call, "args": guard.check_call(call["name"], call["args"])})


def checked_result(guard, call, result):
    """The result that the model may see, or a refusal."""
    try:
        if isinstance(result, ToolMessage):
            return result.model_copy(update={"content": guard.check_result(call["name"], result.content)})
        if isinstance(result, Command) and isinstance(result.update, dict):
            messages = [
                checked_result(guard, call, each) if isinstance(each, ToolMessage) else each
                for each in result.update.get("messages", [])
            ]
            return Command(
                graph=result.graph,
                resume=result.resume,
                goto=result.goto,
                update={**result.update, **({"messages": messages} if messages else {})},
            )
        raise Refused("Refused: the tool gave a result of a kind that cannot be judged.")
    except Refused as refused:
        return refusal(call, refused)
