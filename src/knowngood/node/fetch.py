"""The content of one file of a node, whole, for a controller that wants to keep it. It changes nothing."""

from knowngood.node.ground import Problem, raw, read_file, reason
from knowngood.node.written import encode, frame, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main(request: "dict[str, Any]") -> None:
    """Print {"content"} with the file's bytes in base64, or {"error"} with the reason."""
    told = {}  # type: dict[str, object]
    try:
        import binascii

        content = read_file(raw(request["path"]), request["limit"])
        told["content"] = binascii.b2a_base64(content).decode("ascii").strip()
    except (OSError, Problem) as error:
        told["error"] = reason(error)
    write(frame(request["run"], encode(told)))
