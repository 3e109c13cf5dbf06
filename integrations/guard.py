"""Asks the service over HTTP, with nothing but Python's own library. Whatever goes wrong is a no.

Set in the environment: SERVICE_URL (http://127.0.0.1:8000), SERVICE_KEY (a credential, where the service asks for one),
SERVICE_AGENT_ID (by which name decisions are recorded), SERVICE_APPROVAL_SECONDS (how long to wait for a person: 300).
"""

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class Refused(Exception):
    """The answer is no: by a rule, by a person, or because nobody could be asked. Its text is one sentence."""


class _StayHere(urllib.request.HTTPRedirectHandler):
    """What is to be judged goes to the service and to nobody whom an answer names."""

    def redirect_request(self, *_args, **_kwargs):
        return None


class Guard:
    """Judges what enters an agent, what it does and what it answers. One guard is one session."""

    ANSWER_BYTES_MAX = 32_000_000
    WAIT_SECONDS = 20

    def __init__(self, agent_id=None, session_id=None, url=None, key=None, timeout_seconds=10, approval_seconds=None):
        self.agent_id = agent_id or os.environ.get("SERVICE_AGENT_ID") or "agent"
        self.session_id = session_id or str(uuid.uuid4())
        self.url = (url or os.environ.get("SERVICE_URL") or "http://127.0.0.1:8000").rstrip("/")
        self.key = key or os.environ.get("SERVICE_KEY")
        self.timeout_seconds = timeout_seconds
        if approval_seconds is None:
            approval_seconds = float(os.environ.get("SERVICE_APPROVAL_SECONDS") or 300)
        self.approval_seconds = approval_seconds
        handlers = [_StayHere()]
        if urllib.parse.urlsplit(self.url).hostname in ("127.0.0.1", "::1", "localhost"):
            # A proxy of the environment has no business with this machine.
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def check_input(self, text):
        """The text that may enter the agent, in which what a rule masks is masked. Raises Refused."""
        return self._judge("/v1/scan/input", {"text": text}, text, "modified_text")

    def check_output(self, text):
        """The text that may leave the agent. Raises Refused."""
        return self._judge("/v1/guard/output", {"text": text}, text, "modified_text")

    def check_call(self, tool, arguments):
        """The arguments that a tool may be called with. Waits where a person has to agree. Raises Refused."""
        body = {"tool": tool, "input": arguments, "phase": "request"}
        return self._judge("/v1/intercept/tool", body, arguments, "modified_input")

    def check_result(self, tool, output):
        """The result that the agent may see. Raises Refused."""
        body = {"tool": tool, "output": output, "phase": "response"}
        return self._judge("/v1/intercept/tool", body, output, "modified_output")

    def _judge(self, path, body, value, changed):
        body = {**body, "agent_id": self.agent_id, "session_id": self.session_id}
        answer = self._ask("POST", path, body)
        approval = answer.get("approval")
        if answer.get("decision") == "block" and isinstance(approval, dict) and approval.get("request_id"):
            self._wait(str(approval["request_id"]))
            answer = self._ask("POST", path, {**body, "approval_request_id": approval["request_id"]})
        if answer.get("decision") == "allow":
            return value
        if answer.get("decision") == "modify" and changed in answer:
            return answer[changed]
        raise Refused(f"Refused: {answer.get('reason') or 'the service gave no reason.'}")

    def _wait(self, request_id):
        """Comes back when a person has agreed."""
        until = time.monotonic() + self.approval_seconds
        path = f"/v1/approvals/{urllib.parse.quote(request_id, safe='')}"
        while True:
            left = max(0, min(self.WAIT_SECONDS, int(until - time.monotonic())))
            status = self._ask("GET", f"{path}?wait={left}s" if left else path).get("status")
            if status == "approved":
                return
            if status != "pending":
                raise Refused(f"Refused: the approval request is {status}.")
            if time.monotonic() >= until:
                raise Refused(f"Refused: the approval request {request_id} waits for an operator, who decides on it outside of this session.")
            time.sleep(0.2)

    def _ask(self, method, path, body=None):
        try:
            # Lone surrogates are text as well, and stay what they are in ASCII.
            data = None if body is None else json.dumps(body, default=str).encode("ascii")
            request = urllib.request.Request(self.url + path, data=data, method=method)
            request.add_header("content-type", "application/json")
            if self.key:
                request.add_header("x-service-key", self.key)
            wait = self.WAIT_SECONDS if method == "GET" else 0
            with self._opener.open(request, timeout=self.timeout_seconds + wait) as response:
                answer = json.loads(response.read(self.ANSWER_BYTES_MAX))
        except urllib.error.HTTPError as error:
            raise Refused(f"Refused: {self._sentence(error)}") from None
        except Exception as error:
            raise Refused(f"Refused: the service could not be reached ({type(error).__name__}).") from None
        if not isinstance(answer, dict):
            raise Refused("Refused: the service did not answer as it should.")
        return answer

    def _sentence(self, error):
        try:
            answer = json.loads(error.read(self.ANSWER_BYTES_MAX))
            return str(answer.get("reason") or answer["error"])
        except Exception:
            return f"the service answered {error.code}."
