"""One health question to the server, as its manifest states it: by HTTP, by a completion, or by a command."""

import json
import time

from knowngood.node.command import Command
from knowngood.node.ground import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.client import HTTPResponse
    from typing import Any

_MOST = 64 << 10  # bytes of an answer


class Answer:
    """What came back: `status` of HTTP (None for a command), the text, and the peer's address and port."""

    def __init__(self, text: str, status: "int | None" = None, peer: "tuple[str, int] | None" = None) -> None:
        self.text = text
        self.status = status
        self.peer = peer


def ask(health: "dict[str, Any]", seconds: float) -> Answer:
    """Ask once. OSError or Problem where nothing comes back in time."""
    if health.get("command") is not None:
        command = health["command"]
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else [str(each) for each in command]
        return Answer(Command(argv, seconds).output()[:_MOST].decode("utf-8", "replace"))
    if health.get("completion") is not None:
        return _http(health["completion"]["url"], health["completion"]["body"], seconds)
    return _http(health["http"], None, seconds)


def judge(health: "dict[str, Any]", answer: Answer) -> None:
    """Problem where the answer is not what the manifest wants."""
    wanted = int(health.get("status") or 200)
    if answer.status is not None and answer.status != wanted:
        raise Problem("HTTP status %d, not %d" % (answer.status, wanted))
    if health.get("body") is not None and str(health["body"]) not in answer.text:
        raise Problem("the answer does not hold the text that it should")
    if health.get("completion") is not None:
        least, came = int(health["completion"].get("tokens") or 1), tokens_in(answer.text)
        if came < least:
            raise Problem("%d tokens came, not %d" % (came, least))


def _http(url: str, body: "object", seconds: float) -> Answer:
    import http.client
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=seconds)
    path = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    ends = time.monotonic() + seconds
    try:
        connection.connect()
        peer = connection.sock.getpeername()[:2]
        if body is None:
            connection.request("GET", path)
        else:
            data = body if isinstance(body, str) else json.dumps(body)
            connection.request("POST", path, data.encode("utf-8"), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return Answer(_read(response, ends), response.status, (str(peer[0]), int(peer[1])))
    except http.client.HTTPException as error:
        raise Problem("the answer is no HTTP: %s" % type(error).__name__)
    finally:
        connection.close()


def _read(response: "HTTPResponse", ends: float) -> str:
    """The answer's text, bounded in size and time however slowly it drips."""
    data = b""
    while len(data) < _MOST:
        if time.monotonic() > ends:
            raise Problem("the answer does not end in time")
        chunk = response.read1(_MOST - len(data))
        if not chunk:
            break
        data += chunk
    return data.decode("utf-8", "replace")


def tokens_in(text: str) -> int:
    """How many tokens an answer tells of: OpenAI's, SGLang's, or a stream with one an event."""
    events = [line[5:].strip() for line in text.split("\n") if line.startswith("data:")]
    if events:
        return sum(1 for event in events if event != "[DONE]" and _text_of(_json(event)))
    answer = _json(text)
    for place in ("usage", "meta_info"):
        count = (answer.get(place) or {}).get("completion_tokens") if isinstance(answer, dict) else None
        if isinstance(count, int):
            return count if _text_of(answer) else 0
    return len(_text_of(answer).split())


def _json(text: str) -> "Any":
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text_of(answer: "Any") -> str:
    """The text that was generated, wherever it stands."""
    if not isinstance(answer, dict):
        return ""
    if isinstance(answer.get("text"), str):
        return str(answer["text"])
    choices = answer.get("choices")
    told = []
    for choice in choices if isinstance(choices, list) else []:
        for part in (choice, choice.get("delta"), choice.get("message")) if isinstance(choice, dict) else ():
            if isinstance(part, dict):
                told += [part[name] for name in ("text", "content", "reasoning_content") if part.get(name)]
    return " ".join(str(each) for each in told)
