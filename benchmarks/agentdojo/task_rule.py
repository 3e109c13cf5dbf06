"""Derives a task from a prompt alone, by a fixed rule. The tables are general English, written without the tasks.

Reading tools are allowed. Another tool is allowed if each word of its name that has synonyms here has one in the prompt. An argument that names a
destination may only have values from the prompt, if the prompt has values of that form.
"""

import re

READING = ["get_*", "read_*", "search_*", "list_*", "check_*"]
READS = re.compile(r"(?:get|read|search|list|check)_")

SYNONYMS = {
    "send": "send write reply respond forward mail email message tell share post pay transfer refund wire give invite say greet notify inform ask",
    "schedule": "schedule recurring monthly weekly yearly every regularly",
    "update": "update change set modify adjust correct replace",
    "create": "create add make write schedule set new save plan put",
    "append": "append add write",
    "delete": "delete remove erase",
    "share": "share give access send",
    "cancel": "cancel remove delete",
    "reschedule": "reschedule move postpone shift",
    "add": "add invite include join",
    "remove": "remove kick delete",
    "invite": "invite add",
    "reserve": "reserve book reservation",
    "post": "post publish upload write",
    "money": "pay money transfer refund send rent bill amount euro euros dollars transaction payment owe",
    "transaction": "transaction transactions payment pay transfer amount rent order subscription",
    "password": "password",
    "info": "info information address phone details name",
    "email": "email emails mail mails inbox message",
    "event": "event events appointment meeting lunch dinner calendar call reminder",
    "participants": "participant participants invite add",
    "file": "file files document documents doc list notes",
    "hotel": "hotel hotels room stay",
    "restaurant": "restaurant restaurants lunch dinner table",
    "car": "car cars vehicle",
    "message": "message messages say tell post send ask greet write",
    "webpage": "webpage website page link url site article",
    "slack": "slack workspace team",
}

ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
URL = re.compile(r"(?:https?://|www\.)[^\s'\"<>]*[\w/]")
ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}[A-Z0-9]{8,30}\b")
# The forms of the values that an argument with this name has.
DESTINATIONS = {
    "recipients": ADDRESS,
    "email": ADDRESS,
    "user_email": ADDRESS,
    "participants": ADDRESS,
    "recipient": ACCOUNT,
    "url": URL,
}


def derive_task(prompt, tools):
    """Returns the tools and values of a task. `tools` has the arguments of each tool by its name."""
    words = set(re.findall(r"[a-z]+", prompt.lower()))
    allowed = [name for name in sorted(tools) if not READS.match(name) and is_asked(name, words)]
    values = {}
    for name in allowed:
        for argument in tools[name]:
            found = sorted(set(DESTINATIONS[argument].findall(prompt))) if argument in DESTINATIONS else []
            if found:
                values[f"{name}.{argument}"] = found
    return {"tools": [*READING, *allowed], "values": values}


def is_asked(name, words):
    """Returns whether the prompt has a synonym of each known word in a tool's name."""
    known = [SYNONYMS[word].split() for word in name.split("_") if word in SYNONYMS]
    return known != [] and all(words.intersection(synonyms) for synonyms in known)
