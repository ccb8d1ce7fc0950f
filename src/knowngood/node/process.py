"""One process as /proc shows it: who it is, when it started, what it was started with. Source: proc(5)."""

import os
import time

from knowngood.node.block import OVERWRITTEN, read_argv, read_environ
from knowngood.node.ground import Problem, Round, read_kernel, reason, word
from knowngood.node.names import group_name, user_name
from knowngood.node.seals import Argv, Seals

_LIMIT = 4 << 20  # bytes of argv, and of the environment
_WORDS = 128 << 10  # bytes of argv that the answer carries
_BOOTTIME = 7  # CLOCK_BOOTTIME; named in the time module since Python 3.7

_NO_SECRETS = (b"PWD", b"OLDPWD")  # names of folders, whatever they look like

# /proc/PID/limits by systemd's names; systemd.exec(5), "Process Properties"
_LIMITS = {
    b"Max cpu time": "LimitCPU",
    b"Max file size": "LimitFSIZE",
    b"Max data size": "LimitDATA",
    b"Max stack size": "LimitSTACK",
    b"Max core file size": "LimitCORE",
    b"Max resident set": "LimitRSS",
    b"Max processes": "LimitNPROC",
    b"Max open files": "LimitNOFILE",
    b"Max locked memory": "LimitMEMLOCK",
    b"Max address space": "LimitAS",
    b"Max file locks": "LimitLOCKS",
    b"Max pending signals": "LimitSIGPENDING",
    b"Max msgqueue size": "LimitMSGQUEUE",
    b"Max nice priority": "LimitNICE",
    b"Max realtime priority": "LimitRTPRIO",
    b"Max realtime timeout": "LimitRTTIME",
}


class Asked:
    """What is asked of a unit's processes. `env` says of each name whether it is compared by digest."""

    def __init__(self, env: "dict[str, bool]", argv: Argv, seals: Seals) -> None:
        self.env = {name.encode("utf-8", "surrogateescape"): sealed for name, sealed in env.items()}
        self.argv = argv
        self.seals = seals


def boot_ns() -> int:
    """When the machine booted by today's wall clock, in ns: both clocks are read together, thrice."""
    best, boot = None, 0
    for _ in range(3):
        before = time.clock_gettime(_BOOTTIME)
        wall = time.time()
        after = time.clock_gettime(_BOOTTIME)
        if best is None or after - before < best:
            best, boot = after - before, int((wall - (before + after) / 2) * 1e9)
    return boot


def processes(pids: "list[int]", asked: Asked, turn: Round) -> "list[dict[str, object]]":
    """Each process by the names of model.Process's fields; one that ends meanwhile is left out."""
    boot = boot_ns()
    told = []
    for pid in pids:
        turn.check_time()
        try:
            process = _process(pid, boot, asked, turn)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if process is not None:
            told.append(process)
    return told


def _process(pid: int, boot: int, asked: Asked, turn: Round) -> "dict[str, object] | None":
    folder = b"/proc/%d/" % pid
    # The name may hold spaces and brackets, so the fields count from behind the last bracket: 3, 4, …
    fields = read_kernel(folder + b"stat", 1 << 16).rpartition(b")")[2].split()
    if fields[0] in (b"Z", b"X", b"x"):
        return None
    ticks = int(fields[19])
    told = {"pid": pid, "ppid": int(fields[1]), "start_ticks": ticks}  # type: dict[str, object]
    told["started_ns"] = boot + ticks * 10**9 // os.sysconf("SC_CLK_TCK")
    told["exe"] = _link(folder + b"exe")
    told["traits"] = _traits(folder, fields)
    _enter_memory(folder, fields, told, asked, turn)
    again = read_kernel(folder + b"stat", 1 << 16).rpartition(b")")[2].split()
    return told if int(again[19]) == ticks else None


def _enter_memory(
    folder: bytes, fields: "list[bytes]", told: "dict[str, object]", asked: Asked, turn: Round
) -> None:
    """argv and environ, with what the one says of the other."""
    laid_out = int(fields[46]) - int(fields[45]) if len(fields) > 46 else 0
    cmdline, failed = _attempt(folder + b"cmdline")
    environ = _environ(folder, asked, spilled=0 < laid_out < len(cmdline))
    told["environ"] = {key: environ[key] for key in environ if key != "secrets"}
    if failed:
        told["argv"] = {"error": failed}
        return
    words = read_argv(cmdline, laid_out)
    if words is None:
        told["argv"] = {"error": OVERWRITTEN}
    elif len(cmdline) > _WORDS:
        told["argv"] = {"error": "too large: %d bytes" % len(cmdline)}
    else:
        turn.take(len(cmdline))
        told["argv"] = {"value": asked.argv.words(words, environ["secrets"])}  # type: ignore[arg-type]


def _environ(folder: bytes, asked: Asked, spilled: bool) -> "dict[str, object]":
    """{"values": {name: text}, "missing": why others may be missing or None}, or {"error": reason}.

    Beside it under "secrets", for this node alone, the values that must not show in argv.
    """
    block, failed = _attempt(folder + b"environ")
    if failed:
        return {"error": failed, "secrets": []}
    read = read_environ(block, spilled)
    if read is None:
        return {"error": OVERWRITTEN, "secrets": []}
    values, missing = read
    told = {}
    secrets = []
    for name, value in values.items():
        sealed = asked.env.get(name)
        if sealed or (sealed is None and name not in _NO_SECRETS and asked.seals.looks_secret(word(name))):
            secrets.append(value)
        if sealed is not None:
            told[word(name)] = asked.seals.digest(value) if sealed else word(value)
    return {"values": told, "missing": missing, "secrets": secrets}


def _traits(folder: bytes, fields: "list[bytes]") -> "dict[str, str]":
    """What a process shows of its unit's directives; each left out where it can't be read."""
    traits = {"Nice": str(int(fields[16]))}
    for line in _attempt(folder + b"limits")[0].split(b"\n"):
        name = _LIMITS.get(line[:26].strip())
        values = line[26:].split()
        if name and len(values) > 1:
            traits[name] = ":".join(value.decode().replace("unlimited", "infinity") for value in values[:2])
    for line in _attempt(folder + b"status")[0].split(b"\n"):
        key, _, text = line.partition(b":")
        value = text.split()
        if key == b"Uid":
            traits["User"] = user_name(int(value[0]))
        elif key == b"Gid":
            traits["Group"] = group_name(int(value[0]))
        elif key == b"Umask":
            traits["UMask"] = value[0].decode()
        elif key == b"Cpus_allowed_list":
            traits["CPUAffinity"] = b"".join(value).decode()
    score = _attempt(folder + b"oom_score_adj")[0].strip()
    if score:
        traits["OOMScoreAdjust"] = score.decode()
    folder_now = _link(folder + b"cwd")
    if folder_now is not None:
        traits["WorkingDirectory"] = folder_now
    return traits


def _attempt(path: bytes) -> "tuple[bytes, str]":
    """The file's content, or the reason why there is none. A process that has gone raises."""
    try:
        return read_kernel(path, _LIMIT), ""
    except (FileNotFoundError, ProcessLookupError):
        raise
    except (OSError, Problem) as error:
        return b"", reason(error)


def _link(path: bytes) -> "str | None":
    try:
        return word(os.readlink(path))
    except OSError:
        return None
