"""The launcher's HTTP endpoints: /health, generation as SGLang and OpenAI spell it, and /truth.

/truth is the tests' ground truth: what this process and its schedulers really run with, as they know it
themselves, whatever /proc shows of them.
"""

import json
import os
import socketserver
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sglang.srt import control


def serve(args, schedulers, started):
    """Answer requests for ever."""
    Handler.args, Handler.schedulers, Handler.started = args, schedulers, started
    Server((args.host, args.port), Handler).serve_forever()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        # HTTPServer's own also asks the resolver for the host's name, which can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


class Handler(BaseHTTPRequestHandler):
    args = schedulers = started = None

    def do_GET(self):
        if self.path in ("/health", "/health_generate"):
            self._health()
        elif self.path == "/v1/models":
            model = self.args.served_model_name or self.args.model_path
            self._answer({"object": "list", "data": [{"id": model, "object": "model"}]})
        elif self.path == "/truth":
            self._answer(self._truth())
        else:
            self.send_error(404)

    def do_POST(self):
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        except ValueError:
            self.send_error(400)
            return
        if self.path == "/generate":
            count = body.get("sampling_params", {}).get("max_new_tokens", 16)
            tokens = self.schedulers[0].generate(str(body.get("text", "")), int(count))
            self._answer({"text": " ".join(tokens), "meta_info": {"completion_tokens": len(tokens)}})
        elif self.path in ("/v1/completions", "/v1/chat/completions"):
            self._completion(body)
        else:
            self.send_error(404)

    def _health(self):
        young = time.monotonic() - self.started < control.number("healthy-after", 0)
        if young or control.is_set("never-healthy"):
            self.send_error(503)
        elif self.path == "/health_generate":
            self.schedulers[0].generate("health", 1)
            self._answer({})
        else:
            self._answer({})

    def _completion(self, body):
        prompt = body.get("prompt") or json.dumps(body.get("messages", ""))
        count = int(body.get("max_tokens", 16))
        if not body.get("stream"):
            tokens = self.schedulers[0].generate(prompt, count)
            choice = {"index": 0, "text": " ".join(tokens), "finish_reason": "length"}
            self._answer(
                {"object": "text_completion", "choices": [choice], "usage": {"completion_tokens": count}}
            )
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for _ in range(count):
            (token,) = self.schedulers[0].generate(prompt, 1)
            self._event(json.dumps({"choices": [{"index": 0, "text": token + " "}]}))
        self._event("[DONE]")

    def _event(self, data):
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def _truth(self):
        return {
            "pid": os.getpid(),
            "argv": sys.orig_argv,
            "knobs": dict(os.environ),
            "flags": vars(self.args),
            "schedulers": [each.loaded for each in self.schedulers],
        }

    def _answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass
