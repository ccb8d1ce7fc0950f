"""The serve script: knobs and flags that are not what the manifest says."""

from __future__ import annotations

from ..contents import SCRIPT
from ..edits import edit
from ..node import Node

EXPORT = "\nexport SGLANG_SM120_MMA_TARGET_CTAS="
SECRETS = ("hf_PLANTEDqXvJ81kTzW", "sk-PLANTED-77f1c0aa42")  # what no output may ever hold
SAVED = "/tmp/serve_dsv4_decode.sh.bak"


def _set_knob(node: Node, old: str, new: str) -> None:
    edit(node, SCRIPT, f"{EXPORT}{old}\n", f"{EXPORT}{new}\n")


def knob_on_disk(node: Node) -> None:
    """TARGET_CTAS is 256 in the script, and nobody restarted: the process still has 512."""
    _set_knob(node, "512", "256")


def knob_live(node: Node) -> None:
    """TARGET_CTAS is 256 in the script and in the process."""
    _set_knob(node, "512", "256")
    node.restart()


def knob_restored(node: Node) -> None:
    """TARGET_CTAS was edited to 256, the unit restarted, the script restored: the process has 256."""
    _set_knob(node, "512", "256")
    node.restart()
    _set_knob(node, "256", "512")


def knob_restored_cp_p(node: Node) -> None:
    """As knob-restored, but from a copy by `cp -p`: the script's mtime is from before the restart."""
    node.run(f"cp -p {SCRIPT} {SAVED}")
    _set_knob(node, "512", "256")
    node.restart()
    node.run(f"cp -p {SAVED} {SCRIPT}; rm {SAVED}")


def three_values(node: Node) -> None:
    """TARGET_CTAS is 512 in the manifest, 256 in the script, and 128 in the process."""
    _set_knob(node, "512", "128")
    node.restart()
    _set_knob(node, "128", "256")


def knob_in_comment_only(node: Node) -> None:
    """The export of TARGET_CTAS became a comment, and the unit was restarted: the knob is nowhere."""
    edit(node, SCRIPT, f"{EXPORT}512\n", f"\n# {EXPORT[1:]}512\n")
    node.restart()


def knob_in_comment_on_disk(node: Node) -> None:
    """The export of TARGET_CTAS became a comment, and nobody restarted: the process still has 512."""
    edit(node, SCRIPT, f"{EXPORT}512\n", f"\n# {EXPORT[1:]}512\n")


def knob_twice(node: Node) -> None:
    """TARGET_CTAS is exported twice, last as 256, and live: the second one won."""
    edit(node, SCRIPT, f"{EXPORT}512\n", f"{EXPORT}512{EXPORT}256\n")
    node.restart()


def forbidden_knob(node: Node) -> None:
    """NCCL_DEBUG is exported, and live; the manifest wants it absent."""
    edit(node, SCRIPT, f"{EXPORT}512\n", f"{EXPORT}512\nexport NCCL_DEBUG=INFO\n")
    node.restart()


def secrets_planted(node: Node) -> None:
    """The script exports HF_TOKEN and passes --api-key, two secrets that no one declared; both are live."""
    edit(node, SCRIPT, f"{EXPORT}512\n", f"{EXPORT}512\nexport HF_TOKEN={SECRETS[0]}\n")
    edit(node, SCRIPT, "--tp 4", f"--tp 4 --api-key {SECRETS[1]}")
    node.restart()


def flag_lost(node: Node) -> None:
    """The script no longer passes --disable-overlap-schedule, and was restarted."""
    edit(node, SCRIPT, " \\\n  --disable-overlap-schedule\n", "\n")
    node.restart()


def flag_equals_other(node: Node) -> None:
    """`--tp=2` stands for `--tp 4`, and is live."""
    edit(node, SCRIPT, "--tp 4", "--tp=2")
    node.restart()


def flag_equals_same(node: Node) -> None:
    """`--tp=4` stands for `--tp 4`, and is live: the same setting, written otherwise."""
    edit(node, SCRIPT, "--tp 4", "--tp=4")
    node.restart()


def no_exec(node: Node) -> None:
    """The script starts the server as a child: bash is the unit's main process, without the exports."""
    edit(node, SCRIPT, "exec python3 -m", "python3 -m")
    node.restart()


def script_missing(node: Node) -> None:
    """The serve script was moved away; the process goes on."""
    node.run(f"rm {SCRIPT}")
