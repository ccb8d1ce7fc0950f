"""The command line: one module a verb, loaded only when its verb is called, so that --help stays fast."""

from __future__ import annotations

import importlib
import sys

import click

VERBS = {
    "init": "Write inventory/, deploys/ and state/ for a new project.",
    "capture": "Write a manifest from what a node runs now.",
    "validate": "Check the manifests, offline.",
    "explain": "Tell what a serve script or unit would start, offline.",
    "drift": "Compare manifest, disk and running process on every node.",
    "plan": "Tell what an apply would do to each node, and in which waves.",
}


class Verbs(click.Group):
    """A group whose commands live in modules of their own, imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"knowngood.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """An unknown verb is answered with the nearest known one."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"no such command: {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


def entry() -> None:
    """The installed command. Ctrl-C, at whatever moment, ends it with 130 and no traceback."""
    try:
        main(prog_name="knowngood", standalone_mode=False)
    except click.exceptions.Exit as done:
        raise SystemExit(done.exit_code) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except (click.Abort, KeyboardInterrupt):
        # click tells an interrupt as an Abort; nothing of ours is left behind but the message.
        sys.stderr.write("knowngood: interrupted\n")
        raise SystemExit(130) from None


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="knowngood", prog_name="knowngood")
def main() -> None:
    """Known-good configuration for a fleet of LLM decode nodes.

    Compares three sources of truth on every node: the manifest, the disk and the running process.

    Exit codes: 0 in sync or done, 1 drift, 2 usage or bad input, 3 not fully observed, 130 interrupted.
    """
