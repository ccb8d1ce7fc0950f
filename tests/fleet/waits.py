"""Waiting for conditions, never for time to pass."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import FleetError

T = TypeVar("T")


def until(condition: Callable[[], T | None], what: str, seconds: float = 30.0) -> T:
    """The condition's first true value. FleetError, naming `what`, when there is none in time."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise FleetError(f"waited {seconds:g} s in vain for {what}")
        time.sleep(0.03)
    return value


def http_get(address: str, port: int, path: str, seconds: float = 2.0) -> tuple[int, bytes] | None:
    """Status and body, or None where nobody answers in time."""
    connection = http.client.HTTPConnection(address, port, timeout=seconds)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def http_json(address: str, port: int, path: str) -> dict[str, Any] | None:
    """The JSON object at the path, or None where there is none to be had."""
    answer = http_get(address, port, path)
    if answer is None or answer[0] != 200:
        return None
    document: dict[str, Any] = json.loads(answer[1])
    return document


def speaks_ssh(address: str, port: int, seconds: float = 1.0) -> bool:
    """Whether something at the port greets as an SSH server does (RFC 4253, section 4.2)."""
    try:
        with socket.create_connection((address, port), timeout=seconds) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False
