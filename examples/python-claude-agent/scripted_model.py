"""A scripted server with the interface of the model: it calls `send` with a secret, then answers with an address."""

import json
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"input_tokens": 1, "output_tokens": 1}


def script(body):
    """Return the events of one answer."""
    calls = "mcp__mail__send" in body and '"tool_result"' not in body
    if calls:
        block = {"type": "tool_use", "id": "t1", "name": "mcp__mail__send", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": '{"key":"sk-ABCDEF1234567890"}'}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "I could not, write to jane.doe@corp-mail.io."}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "scripted", "content": [], "usage": USAGE}
    stop = {"stop_reason": "tool_use" if calls else "end_turn"}
    yield "message_start", {"message": message}
    yield "content_block_start", {"index": 0, "content_block": block}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}
    yield "message_delta", {"delta": stop, "usage": USAGE}
    yield "message_stop", {}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for name, data in script(body):
            self.wfile.write(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode())

    def log_message(self, *words):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
environment = {
    "HOME": tempfile.mkdtemp(),
    "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
    "ANTHROPIC_API_KEY": "none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}
