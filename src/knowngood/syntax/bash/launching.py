"""What a program is started with: the launch as it is told, and `bash -c`, which is a script of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping

from knowngood.syntax.bash.calls import Calls
from knowngood.syntax.bash.fields import Field, Items, word_text
from knowngood.syntax.bash.launch import Launch
from knowngood.syntax.bash.nodes import Program, Simple
from knowngood.syntax.bash.parse import parse
from knowngood.syntax.bash.state import (
    Caller,
    Export,
    Variable,
)
from knowngood.syntax.bash.surroundings import Surroundings, word_reading
from knowngood.syntax.bash.text import unknown

MOST_LAUNCHES = 64


class Launching(Calls):
    """Collects launches."""

    def __init__(self, caller: Caller, positional: Items, path: str, files: Mapping[str, bytes]) -> None:
        super().__init__(caller, positional, path, files)
        self.launches: list[Launch] = []
        self.unread: tuple[str, int] | None = None

    @property
    def launch_count(self) -> int:
        return len(self.launches)

    def _inner_script(self, items: Items, node: Simple, replaces: bool) -> bool:
        """`bash -c 'text'`: the programs that the text launches are launched by the script."""
        words = [word_text(item) for item in items]
        at = 1
        while (
            at < len(words) and words[at] is not None and re.fullmatch(r"-[a-z]*c|-[leux]+", words[at] or "")
        ):
            at += 1
            if "c" in (words[at - 1] or ""):
                break
        else:
            return False
        text = words[at] if at < len(words) else None
        if text is None or self.foreign > 8 or "i" in "".join(w or "" for w in words[1:at]):
            return False
        program = parse(text, first_line=node.line)
        if program.error is not None or any("l" in (w or "") for w in words[1:at]):
            return False
        self._as_child(program, items[at + 2 :], node, replaces)
        return True

    def _as_child(self, program: Program, positional: Items, node: Simple, replaces: bool) -> None:
        """A shell of its own: it gets what is exported, and nothing that it sets comes back."""

        def run() -> None:
            state = self.state
            gone = [n for n, v in state.variables.items() if v.export is Export.NO and n != "IFS"]
            for name in gone:
                own = self.caller.variable(name)
                state.variables[name] = (
                    Variable(None, Export.NO) if own.text is not None or state.taint else own
                )
            state.variables = {
                name: variable
                for name, variable in state.variables.items()
                if variable.items is None and variable.keyed is None
            }
            for name, variable in list(state.variables.items()):
                if variable.export is not Export.YES and variable.text is not None:
                    state.variables[name] = Variable(
                        unknown("it is exported under a condition", node.line),
                        variable.export,
                        variable.line,
                        maybe_unset=True,
                        presumed_unset=variable.export is Export.INHERITED,
                    )
            state.functions, state.options, state.scopes = {}, {}, []
            state.positional, state.getopts = positional, (1, 1)
            for commands in program.lines:
                self.line(commands)

        self.foreign += 1
        self.subshells -= replaces
        guarded, self.guarded = self.guarded, 0
        own_path, self.own_path = self.own_path, ""
        try:
            self.apart(run)
        finally:
            self.own_path = own_path
            self.foreign -= 1
            self.subshells += replaces
            self.guarded = guarded

    def launch(
        self, node: Simple, items: Items, around: Surroundings, wrappers: tuple[str, ...], replaces: bool
    ) -> None:
        found = Launch(
            argv=tuple(word_reading(item, self.path) for item in items),
            exec=replaces and not self.subshells and not self.background,
            line=node.line,
            background=self.background,
            conditional=bool(self.doubts or self.lasting_doubts),
            env=around.given,
            env_open=around.open,
            unexported=around.unexported,
            inherits=around.inherits,
            path=self.path,
            start=node.start if self.spans_are_ours else None,
            top=self.top,
            wrappers=wrappers,
            spans=tuple(item.span if isinstance(item, Field) else None for item in items),
        )
        if found in self.launches:
            return
        if len(self.launches) >= MOST_LAUNCHES:
            self.unread = self.unread or ("more launches than can be told", node.line)
            return
        self.launches.append(found)
