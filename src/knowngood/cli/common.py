"""What the verbs share: options, and turning our own errors into a message and an exit code."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import click

from knowngood.model import ExitCode

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def project_option(command: Decorated) -> Decorated:
    """-C DIR: where the project is."""
    return click.option(
        "-C",
        "--project",
        "directory",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="The project: a directory with inventory/ and state/ in it"
        " [default: $KNOWNGOOD_PROJECT, or the nearest such ancestor].",
    )(command)


def inventory_options(command: Decorated) -> Decorated:
    """-i and --limit: which hosts."""
    command = click.option(
        "--limit",
        "limits",
        metavar="PATTERN",
        multiple=True,
        help="Only these hosts: names, groups or globs, separated by commas; may be repeated.",
    )(command)
    return click.option(
        "-i",
        "--inventory",
        metavar="FILE|HOSTS",
        help="A pyinfra inventory file, or host names separated by commas [default: inventory/fleet.py].",
    )(command)


def deadline_options(command: Decorated) -> Decorated:
    """--timeout and --connect-timeout, in seconds."""
    command = click.option(
        "--connect-timeout",
        type=click.FloatRange(min=0.1),
        default=10,
        show_default=True,
        metavar="S",
        help="Seconds a node has to let us in.",
    )(command)
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0.1),
        default=30,
        show_default=True,
        metavar="S",
        help="Seconds a node has in all.",
    )(command)


def json_option(command: Decorated) -> Decorated:
    """--json: the answer as JSON on stdout."""
    return click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(command)


def verbose_option(command: Decorated) -> Decorated:
    """-v: evidence too."""
    return click.option("-v", "--verbose", count=True, help="Show the evidence, and every host's name.")(
        command
    )


def say(message: str) -> None:
    """Tell something on stderr, which is for all that is not the answer."""
    print(f"knowngood: {message}", file=sys.stderr)  # noqa: T201


def stop(message: str, code: ExitCode = ExitCode.USAGE) -> NoReturn:
    """Say on stderr why we stop, and stop."""
    say(message)
    raise SystemExit(int(code))


def out(text: str) -> None:
    """Write the answer to stdout. A reader that went away (`| head`) is no error of ours."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A locale that lacks our characters gets escapes, never a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        stop("there is no stdout to write the answer to")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain again when it flushes at exit.
        sys.stdout = None
    except OSError as error:
        sys.stdout = None
        stop(f"the answer could not be written: {error.strerror}")


def wants_color() -> bool:
    """Colour only for a terminal, and never when NO_COLOR is set to anything (no-color.org)."""
    import os

    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
