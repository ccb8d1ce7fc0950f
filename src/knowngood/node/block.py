"""A process's argv and environment as the kernel shows them, and how a process may have overwritten both.

/proc/PID/cmdline and environ are the memory that execve laid out: words that end in NUL, argv and the
environment one behind the other (proc(5)). A process that sets a title (setproctitle) writes it over argv,
on into the environment where it is long, and zeroes the rest. So what is there is taken for what it was only
where it has the shape that execve makes.
"""

OVERWRITTEN = "overwritten by the process"


def read_argv(cmdline: bytes, laid_out: int) -> "list[bytes] | None":
    """The words of argv; None where the process has overwritten them.

    `laid_out` is the size that execve gave argv (arg_end - arg_start), 0 where it is not known.
    """
    words = cmdline.split(b"\0")
    if words[-1:] == [b""]:
        words.pop()
    elif cmdline:
        return None
    if laid_out and len(cmdline) != laid_out:
        return None  # the kernel shows a title as far as it reaches, be it shorter or longer
    if len(words) > 1 and not any(words[1:]):
        return None  # a title and the zeroed rest, or empty arguments: they look the same
    if len(words) == 1 and b" " in words[0] and not words[0].startswith(b"/"):
        return None  # "nginx: worker process"
    return words


def read_environ(block: bytes, spilled: bool) -> "tuple[dict[bytes, bytes], str | None] | None":
    """The environment by name, and why a name may be missing from it; None where nothing is left of it.

    Of a name that is given twice the first counts: so do getenv(3) and Python's os.environ. `spilled` says
    that a title reaches into the block.
    """
    if not block:
        return ({}, None)
    entries = block.split(b"\0")
    whole = entries.pop() == b"" and not spilled
    values = {}  # type: dict[bytes, bytes]
    for entry in entries[1:] if spilled else entries:
        name, equals, value = entry.partition(b"=")
        if equals and name and not any(byte in name for byte in b" \t\n"):
            values.setdefault(name, value)
        else:
            whole = False
    if not values and not whole:
        return None
    return values, None if whole else OVERWRITTEN + " in part"
