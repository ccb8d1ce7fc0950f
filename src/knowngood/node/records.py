"""What knowngood itself left on the node: receipts of starts, and the settings last activated."""

import os

from knowngood.node.ground import Problem, raw, read_file
from knowngood.node.hashes import FOLDER

_LIMIT = 1 << 20


def receipt(unit: str, invocation_id: str, folder: bytes = FOLDER) -> "object":
    """The receipt of the unit's present start as it was written; None where there is none."""
    if not invocation_id.isalnum() or "/" in unit:
        return None
    return _json(os.path.join(folder, b"receipts", raw(unit), raw(invocation_id) + b".json"))


def activated(manifest: str, folder: bytes = FOLDER) -> "object":
    """The settings of a role as they were last activated here, by address; None where none ever were."""
    current = _json(os.path.join(folder, b"current"))
    roles = current.get("roles") if isinstance(current, dict) else None
    role = roles.get(manifest) if isinstance(roles, dict) else None
    return role.get("settings") if isinstance(role, dict) else None


def _json(path: bytes) -> "object":
    try:
        data = read_file(path, _LIMIT)
    except (OSError, Problem):
        return None
    import json

    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
