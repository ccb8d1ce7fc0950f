"""Programs that only start another one: numactl, env, timeout, sudo, mpirun, … and what they do to it.

Each knows which of its options take a value, as its man page has it. An option that is not listed ends the
seeing through: the wrapper then stays the program, so that no word is taken for another.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from knowngood.model import Known, Reading
from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.fields import Field, Gap, Item, Items
from knowngood.syntax.bash.state import from_latin
from knowngood.syntax.bash.surroundings import Surroundings, text_reading

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """`valued` and `flags` are its options with and without a value; `skip` the words before the program.

    `others`: what an option that is in neither list does: "stop", "flag" or "valued".
    `assigns`: whether NAME=value may stand before the program. `effect` changes the environment.
    """

    valued: str = ""
    flags: str = ""
    skip: int = 0
    subcommand: str = ""
    others: str = "stop"
    assigns: bool = False
    effect: Callable[[Surroundings, list[tuple[str, Item | None]]], Surroundings] | None = None


Options = list[tuple[str, Item | None]]


def _env(around: Surroundings, options: Options) -> Surroundings:
    for name, value in options:
        if name in ("-i", "-", "--ignore-environment"):
            around = around.cleared()
        elif name in ("-u", "--unset"):
            unset = _text(value)
            around = (
                around.opened("env -u with a name that is not known")
                if unset is None
                else (around.without(unset, value.line if value else 0))
            )
    return around


def _sudo(around: Surroundings, options: Options) -> Surroundings:
    keeps = any(name in ("-E", "--preserve-env") for name, _ in options)
    if keeps:
        changed = ["PATH", "HOME", "USER", "LOGNAME", "MAIL", "SHELL", "TERM"]
        changed += [
            name for name in around.given if name.startswith(("LD_", "BASH", "DYLD_", "PYTHON", "PERL"))
        ]
        return around.opened("sudo decides what it is", changed)
    return around.opened("sudo decides which names pass")


def _stdbuf(around: Surroundings, options: Options) -> Surroundings:
    return around.opened("stdbuf sets it", ["LD_PRELOAD", "_STDBUF_I", "_STDBUF_O", "_STDBUF_E"])


def _uv(around: Surroundings, options: Options) -> Surroundings:
    if any(name == "--env-file" for name, _ in options):
        return around.opened("uv reads an environment file")
    return around.opened("uv sets it", ["VIRTUAL_ENV", "PATH", "UV", "UV_RUN_RECURSION_DEPTH"])


def _activates(around: Surroundings, options: Options) -> Surroundings:
    return around.opened("activating an environment may set it")


def _changes_user(around: Surroundings, options: Options) -> Surroundings:
    return around.opened("set for another user", ["HOME", "USER", "LOGNAME", "SHELL", "PATH", "MAIL"])


def _mpirun(around: Surroundings, options: Options) -> Surroundings:
    elsewhere = any("host" in name or name in ("-H", "-machinefile", "-f") for name, _ in options)
    kept = around
    if elsewhere:
        around = around.opened("other hosts get only what -x names")
    for name, value in options:
        if name in ("-x", "--x"):
            around = _exported(around, kept, value)
        elif "env" in name:
            return around.opened(f"{name} sets names")
    return around


def _exported(around: Surroundings, kept: Surroundings, value: Item | None) -> Surroundings:
    pair = _assigned(value)
    if pair is not None:
        return around.with_value(*pair)
    name = _text(value)
    if name is not None and name in kept.given:
        return around.with_value(name, kept.given[name])
    return around


def _srun(around: Surroundings, options: Options) -> Surroundings:
    for name, value in options:
        if name == "--export":
            names = (_text(value) or "?").split(",")
            if names[0] != "ALL" or any("=" in other for other in names[1:]):
                return around.opened("srun --export decides which names pass")
    return around


def _systemd_run(around: Surroundings, options: Options) -> Surroundings:
    if not any(name == "--scope" for name, _ in options):
        around = around.opened("the service manager's environment")
    for name, value in options:
        if name in ("-E", "--setenv"):
            pair = _assigned(value)
            if pair is None:
                return around.opened("systemd-run sets a name that is not known")
            around = around.with_value(*pair)
        elif name in ("-p", "--property") and (_text(value) or "Environment").startswith("Environment"):
            return around.opened("systemd-run sets the environment by a property")
    return around


_NUMACTL = Wrapper(
    "-i --interleave -w --weighted-interleave -p --preferred -P --preferred-many -m --membind "
    "-N --cpunodebind -C --physcpubind -c --cpubind",
    "-l --localalloc -b --balancing -a --all",
)
_MPIRUN = Wrapper(
    "-n -np -c --np --n -N -npernode --npernode -ppn -H -host --host -hosts --hosts -hostfile --hostfile "
    "-machinefile --machinefile -f -x -map-by --map-by -bind-to --bind-to -rank-by --rank-by -wdir --wdir "
    "-wd --output-filename --prefix -genvlist -envlist --timeout",
    "--tag-output -tag-output --report-bindings -report-bindings --oversubscribe -oversubscribe "
    "--allow-run-as-root -allow-run-as-root --display-map -display-map -q --quiet -v --verbose -l",
    effect=_mpirun,
)
_PYENV_RUN = Wrapper("", "-q -v --quiet --verbose", subcommand="run", effect=_activates)
_CONDA_RUN = Wrapper(
    "-n --name -p --prefix --cwd",
    "--no-capture-output --live-stream --dev -v --verbose --debug-wrapper-scripts",
    subcommand="run",
    effect=_activates,
)

WRAPPERS: dict[str, Wrapper] = {
    "nohup": Wrapper(),
    "setsid": Wrapper("", "-c --ctty -f --fork -w --wait"),
    "nice": Wrapper("-n --adjustment"),
    "ionice": Wrapper("-c --class -n --classdata", "-t --ignore"),
    "chrt": Wrapper(
        "-T --sched-runtime -P --sched-period -D --sched-deadline",
        "-f --fifo -r --rr -o --other -b --batch -i --idle -d --deadline -R --reset-on-fork -v --verbose -a",
        skip=1,
    ),
    "taskset": Wrapper("", "-a --all-tasks -c --cpu-list", skip=1),
    "timeout": Wrapper(
        "-k --kill-after -s --signal", "--foreground --preserve-status -v --verbose -f -p", skip=1
    ),
    "stdbuf": Wrapper("-i --input -o --output -e --error", effect=_stdbuf),
    "numactl": _NUMACTL,
    "env": Wrapper(
        "-u --unset -C --chdir", "-i --ignore-environment - -v --debug", assigns=True, effect=_env
    ),
    "sudo": Wrapper(
        "-u --user -g --group -C -D --chdir -h --host -p --prompt -r --role -t --type -T -U -R --chroot",
        "-E --preserve-env -H --set-home -n --non-interactive -S --stdin -k -b --background -P -A",
        assigns=True,
        effect=_sudo,
    ),
    "doas": Wrapper("-u -C", "-n", effect=_sudo),
    "gosu": Wrapper(skip=1, effect=_changes_user),
    "su-exec": Wrapper(skip=1, effect=_changes_user),
    "runuser": Wrapper("-u --user -g --group -G", "", effect=_changes_user),
    "setpriv": Wrapper("--reuid --regid --groups --inh-caps --ambient-caps --bounding-set", "--clear-groups "
                       "--keep-groups --init-groups --no-new-privs", effect=_changes_user),
    "prlimit": Wrapper(others="flag"),
    "cgexec": Wrapper("-g", "--sticky"),
    "chroot": Wrapper(skip=1),
    "flock": Wrapper("-w --timeout --wait -E", "-n -x -s -e -o --nonblock --exclusive --shared", skip=1),
    "time": Wrapper("-f --format -o --output", "-a --append -v --verbose -p --portability -q --quiet"),
    "strace": Wrapper(
        "-o -e -s -E -P -S -a -O -I -b -u",
        "-f -ff -c -C -d -D -i -k -q -qq -r -t -tt -ttt -T -v -w -x -xx -y -yy -Z -z",
    ),
    "nsys": Wrapper(subcommand="profile", others="valued"),
    "catchsegv": Wrapper(),
    "unbuffer": Wrapper("", "-p"),
    "tini": Wrapper("-e -p", "-s -g -v -vv -vvv -w"),
    "dumb-init": Wrapper("-r --rewrite", "-c --single-child -v --verbose"),
    "xvfb-run": Wrapper("-n -s -e -f -p", "-a --auto-servernum -l"),
    "proxychains": Wrapper("-f", "-q"),
    "proxychains4": Wrapper("-f", "-q"),
    "uv": Wrapper(
        "--with --with-editable --with-requirements --extra --group --no-group --only-group --package "
        "--python -p --env-file --index --index-url --extra-index-url -i --find-links -f --project "
        "--directory --link-mode --index-strategy --prerelease --resolution --config-file --cache-dir",
        "--active --no-sync --frozen --locked --isolated --no-project --all-extras --no-dev --dev --exact "
        "--offline -q --quiet -v --verbose --no-cache -n --all-groups --no-env-file --no-config "
        "--managed-python --no-editable --inexact -U --upgrade",
        subcommand="run",
        effect=_uv,
    ),
    "poetry": _PYENV_RUN,
    "pipenv": _PYENV_RUN,
    "pdm": _PYENV_RUN,
    "rye": _PYENV_RUN,
    "conda": _CONDA_RUN,
    "mamba": _CONDA_RUN,
    "micromamba": _CONDA_RUN,
    "mpirun": _MPIRUN,
    "mpiexec": _MPIRUN,
    "srun": Wrapper(
        "-A --account -c --cpus-per-task -C --constraint -D --chdir -d --dependency -e --error -G --gpus "
        "--gpus-per-node --gpus-per-task --gres --export -i --input -J --job-name --jobid --mem "
        "--mem-per-cpu --mpi -N --nodes -n --ntasks --ntasks-per-node --nodelist -w --output -o -p "
        "--partition -q --qos -t --time -x --exclude --container-image --container-mounts "
        "--container-workdir --container-name --container-env --cpu-bind --reservation "
        "-r --relative --het-group",
        "-l --label -u --unbuffered -v --verbose -Q --quiet --exclusive --overlap --exact -s "
        "--oversubscribe -O --overcommit --pty -K "
        "--kill-on-bad-exit --no-container-mount-home --container-writable",
        effect=_srun,
    ),
    "systemd-run": Wrapper(
        "-u --unit -p --property -E --setenv -M --machine -H --host --slice --uid --gid --nice "
        "--working-directory --description --service-type --on-active --on-boot --on-calendar "
        "--timer-property",
        "--user --system --scope -P --pipe -q --quiet --wait -G --collect -r --remain-after-exit --no-block "
        "-d --same-dir -t --pty --no-ask-password --slice-inherit",
        effect=_systemd_run,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unwrapped:
    items: Items
    around: Surroundings
    wrappers: tuple[str, ...]


def see_through(items: Items, around: Surroundings) -> Unwrapped:
    """The program behind the wrappers, and the environment that it gets."""
    seen: tuple[str, ...] = ()
    while items and len(seen) < 12:
        name = (_text(items[0]) or "").rsplit("/", 1)[-1]
        wrapper = WRAPPERS.get(name)
        if wrapper is None:
            break
        inner = _unwrap(wrapper, items[1:], around)
        if inner is None:
            break
        items, around = inner
        seen += (name,)
    return Unwrapped(items, around, seen)


def _unwrap(wrapper: Wrapper, items: Items, around: Surroundings) -> tuple[Items, Surroundings] | None:
    at = 0
    if wrapper.subcommand:
        if not items or _text(items[0]) != wrapper.subcommand:
            return None
        at = 1
    options: Options = []
    valued, flags = wrapper.valued.split(), wrapper.flags.split()
    while at < len(items):
        item = items[at]
        text = _text(item)
        if text is None and not _is_option(item):
            # Words that are not known and may be options: the next word without a dash is the program.
            if isinstance(item, Gap) and not item.start and at + 1 < len(items) and not wrapper.skip:
                at += 1
                continue
            break
        if text == "--":
            at += 1
            break
        if not _is_option(item) and text != "-":
            break
        taken = _option(wrapper, valued, flags, items, at)
        if taken is None:
            return None
        option, value, at = taken
        options.append((option, value))
    if wrapper.effect is not None:
        around = wrapper.effect(around, options)
    at += wrapper.skip
    while wrapper.assigns and at < len(items) and (pair := _assigned(items[at])):
        around = around.with_value(*pair)
        at += 1
    return (items[at:], around) if at < len(items) else None


def _option(
    wrapper: Wrapper, valued: list[str], flags: list[str], items: Items, at: int
) -> tuple[str, Item | None, int] | None:
    """An option with its value, and where the next word stands; None for one that is not understood."""
    item = items[at]
    begins = item.start if isinstance(item, Gap) else texts.starts_with(item.text)
    name, equals, _ = begins.partition("=")
    if begins.startswith("--") and equals:
        if name in valued or wrapper.others != "stop" or name == "--preserve-env":
            return name, _rest(item, len(name) + 1), at + 1
        return None
    text = _text(item)
    if text in valued or (text is not None and wrapper.others == "valued"):
        return text or "", items[at + 1] if at + 1 < len(items) else None, at + 2
    if text in flags or (text is not None and wrapper.others == "flag"):
        return text or "", None, at + 1
    if begins[:2] in valued and not begins.startswith("--"):
        return begins[:2], _rest(item, 2), at + 1
    if text is not None and re.fullmatch(r"-[A-Za-z]+", text) and all("-" + c in flags for c in text[1:]):
        return text, None, at + 1
    if text is not None and re.fullmatch(r"-\d+", text) and "-n" in valued:
        return "-n", None, at + 1
    return None


def _rest(item: Item, cut: int) -> Item:
    if isinstance(item, Gap):
        return Gap(item.reason, item.line, item.start[cut:])
    first = item.text[0]
    return Field(texts.concat(texts.plain(str(first)[cut:]), item.text[1:]), item.line)


def _is_option(item: Item) -> bool:
    begins = item.start if isinstance(item, Gap) else texts.starts_with(item.text)
    return len(begins) > 1 and begins[0] == "-"


def _text(item: Item | None) -> str | None:
    return texts.known(item.text) if isinstance(item, Field) else None


def _assigned(item: Item | None) -> tuple[str, Reading] | None:
    """(name, value) of a word NAME=value."""
    if not isinstance(item, Field) or not item.text or not isinstance(item.text[0], str):
        return None
    found = _ASSIGNED.match(item.text[0])
    if not found:
        return None
    value = texts.concat(texts.plain(item.text[0][found.end() :]), item.text[1:])
    reading = text_reading(value, item.line)
    if isinstance(reading.value, Known):
        return from_latin(found.group(1)), reading
    return from_latin(found.group(1)), Reading(reading.value, item.line)
