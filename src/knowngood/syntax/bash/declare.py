"""`export`, `declare`, `local`, `readonly`, `unset`: the commands that make and unmake variables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.brace import expand_braces
from knowngood.syntax.bash.fields import Field, Items
from knowngood.syntax.bash.loops import Loops
from knowngood.syntax.bash.nodes import Assignment, Element, Literal, Word
from knowngood.syntax.bash.shell import Doubt
from knowngood.syntax.bash.state import DONE, Export, Variable
from knowngood.syntax.bash.text import unknown

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=)")


class Declarations(Loops):
    """Assignments in all their forms."""

    def assignment(self, node: Assignment) -> None:
        """`X=…` standing by itself."""
        self.note_assignment(node)
        if not isinstance(node.value, Word):
            self._array(node, node.value)
            return
        text = self.text(node.value, assignment=True)
        if node.index is None:
            self.assign(node.name, text, node.line, append=node.append)
            return
        self._element_assigned(node, node.index, text)

    def note_assignment(self, node: Assignment) -> None:
        """For those who ask where a name is assigned."""

    def _element_assigned(self, node: Assignment, index: Word, text: texts.Text) -> None:
        old = self.state.look_up(node.name)
        if old.keyed is not None or "A" in old.attributes:
            key = texts.known(self.text(index))
            if old.keyed is None or key is None or node.append:
                raise Doubt("a key of an associative array is not known", node.line)
            keyed = (*(pair for pair in old.keyed if pair[0] != key), (key, text))
            self.state.variables[node.name] = replace(old, keyed=keyed, line=node.line)
            return
        at = self.arithmetic(index).certain
        self.assign_element(node.name, at, text, node.line, append=node.append)

    def _array(self, node: Assignment, elements: tuple[Element, ...]) -> None:
        old = self.state.look_up(node.name)
        if old.keyed is not None or "A" in old.attributes:
            self._keyed_array(node, elements, old)
            return
        if any(element.key is not None for element in elements):
            raise Doubt("an array with indexes of its own", node.line)
        items: Items = self.fields(element.word for element in elements)
        self.assign_items(node.name, items, node.line, append=node.append)

    def _keyed_array(self, node: Assignment, elements: tuple[Element, ...], old: Variable) -> None:
        keyed = dict(old.keyed or ()) if node.append else {}
        for element in elements:
            key = None if element.key is None else texts.known(self.text(element.key))
            if key is None:
                raise Doubt("an associative array with keys that are not known", node.line)
            keyed[key] = self.text(element.word)
        self.state.variables[node.name] = replace(
            old, keyed=tuple(keyed.items()), text=None, line=node.line, maybe_unset=False
        )

    # --- declaring ----------------------------------------------------------------------------------

    def declare(self, command: str, words: Sequence[Word | Assignment], line: int) -> None:
        """The command and its words, not yet expanded: assignments among them are not split."""
        options, rest = self._options(words, line)
        export: Export | None = Export.YES if command == "export" or "-x" in options else None
        if (command == "export" and "-n" in options) or "+x" in options:
            export = Export.NO
        attributes = frozenset(option[1] for option in options if option[0] == "-" and option[1] in "ilunrA")
        attributes |= frozenset("r") if command == "readonly" else frozenset()
        if command == "export":
            attributes -= {"n"}
        if options & {"-f", "-F"}:
            self.state.status = DONE
            return
        if not rest and "-p" in options:
            return
        local = command == "local" or (
            command in ("declare", "typeset") and bool(self.state.scopes) and "-g" not in options
        )
        if "-g" in options and self.state.scopes:
            raise Doubt("declare -g reaches past the function's own variables", line)
        for word in rest:
            self._declare_one(word, local, export, attributes, options, line)
        self.state.status = DONE

    def _options(
        self, words: Sequence[Word | Assignment], line: int
    ) -> tuple[frozenset[str], list[Word | Assignment]]:
        options: set[str] = set()
        for at, word in enumerate(words):
            text = word.literal if isinstance(word, Word) else None
            if text == "--":
                return frozenset(options), list(words[at + 1 :])
            if text is None or not re.fullmatch(r"[-+][A-Za-z]+", text):
                return frozenset(options), list(words[at:])
            options |= {text[0] + letter for letter in text[1:]}
        return frozenset(options), []

    def _declare_one(
        self,
        word: Word | Assignment,
        local: bool,
        export: Export | None,
        attributes: frozenset[str],
        options: frozenset[str],
        line: int,
    ) -> None:
        if isinstance(word, Assignment):
            if _braces(word):
                self._declare_braces(word, local, export, attributes, options, line)
                return
            name = word.name
            value = self._prepared(word, attributes, options)
            self._make(name, local, attributes, options, word.line)
            value()
            self._mark(name, export, attributes, word.line)
            return
        for item in self.split_word(word):
            text = texts.known(item.text) if isinstance(item, Field) else None
            found = None if text is None else _WORD_ASSIGNED.match(text)
            if text is not None and found:
                # A word that turns out to be an assignment, as in export "$NAME=$VALUE".
                self._make(found.group(1), local, attributes, options, word.line)
                self.assign(
                    found.group(1), texts.plain(text[found.end() :]), word.line, append=found.group(2) == "+="
                )
                self._mark(found.group(1), export, attributes, word.line)
            elif text is not None and _NAME.fullmatch(text):
                self._make(text, local, attributes, options, word.line)
                self._mark(text, export, attributes, word.line)
            else:
                self._declare_unclear(item, local, export, attributes, options, word.line)

    def _declare_braces(
        self,
        word: Assignment,
        local: bool,
        export: Export | None,
        attributes: frozenset[str],
        options: frozenset[str],
        line: int,
    ) -> None:
        """`export A={a,b}` is `export A=a A=b`."""
        value = word.value
        if not isinstance(value, Word) or value.literal is None or word.index is not None:
            raise Doubt("a brace expansion in an assignment", word.line)
        start = Literal(f"{word.name}{'+' if word.append else ''}=", True)
        for branch in expand_braces(replace(value, parts=(start, *value.parts))):
            quoted = Word((Literal(branch.literal or "", True),), word.start, word.end, word.line)
            self._declare_one(quoted, local, export, attributes, options, line)

    def _declare_unclear(
        self,
        item: object,
        local: bool,
        export: Export | None,
        attributes: frozenset[str],
        options: frozenset[str],
        line: int,
    ) -> None:
        """`export "NAME=$UNKNOWN"`: the name is known all the same."""
        start = texts.starts_with(item.text) if isinstance(item, Field) else ""
        found = _WORD_ASSIGNED.match(start)
        if not found or not isinstance(item, Field):
            raise Doubt("a name that is declared is not known", line)
        self._make(found.group(1), local, attributes, options, line)
        value = texts.concat(texts.plain(start[found.end() :]), item.text[1:])
        self.assign(found.group(1), value, line, append=found.group(2) == "+=")
        self._mark(found.group(1), export, attributes, line)

    def _prepared(self, word: Assignment, attributes: frozenset[str], options: frozenset[str]):  # type: ignore[no-untyped-def]
        """The assignment with its value expanded now, before a local variable hides what it refers to."""
        if not isinstance(word.value, Word) or word.index is not None:
            return lambda: self.assignment(word)
        text = self.text(word.value, assignment=True)

        def set_it() -> None:
            self.note_assignment(word)
            self.assign(word.name, text, word.line, append=word.append)

        return set_it

    def _make(
        self, name: str, local: bool, attributes: frozenset[str], options: frozenset[str], line: int
    ) -> None:
        """The variable, before it gets its value."""
        if local:
            if not self.state.scopes:
                raise Doubt("local outside a function", line)
            self._make_local(name, line)
        old = self.state.look_up(name)
        if "-a" in options or "-A" in options:
            self._make_array(name, old, "A" if "-A" in options else "", line)
        early = (attributes & frozenset("iluA")) - old.attributes
        if early:
            self.state.variables[name] = replace(
                self.state.look_up(name), attributes=old.attributes | early, line=line
            )

    def _make_local(self, name: str, line: int) -> None:
        self.touched.add(name)
        scope = self.state.scopes[-1]
        outer = self.state.own(name)
        if name not in scope:
            scope[name] = outer
            if outer.attributes & {"r", "?"}:
                raise Doubt(f"{name} is read-only", line)
            # Without a value it does not hide an exported name from commands; "h" marks that.
            hiding = frozenset() if outer.export is Export.NO else frozenset("h")
            self.state.variables[name] = Variable(None, outer.export, line, attributes=hiding, path=self.path)

    def _make_array(self, name: str, old: Variable, keyed: str, line: int) -> None:
        if keyed and old.keyed is None:
            if old.text is not None or old.items is not None:
                raise Doubt(f"{name} becomes an associative array", line)
            self.state.variables[name] = Variable(
                None, old.export, line, keyed=(), attributes=frozenset("A"), path=self.path
            )
        elif not keyed and old.items is None and old.text is None:
            self.state.variables[name] = Variable(None, old.export, line, items=(), path=self.path)

    def _mark(self, name: str, export: Export | None, attributes: frozenset[str], line: int) -> None:
        self.touched.add(name)
        own = self.state.own(name)
        if "n" in attributes:
            self.state.variables[name] = replace(own, attributes=own.attributes | {"n"})
            return
        if "n" in own.attributes:
            raise Doubt(f"{name} refers to another name", line)
        marked = replace(own, attributes=own.attributes | attributes)
        if export is not None:
            marked = replace(marked, export=export, line=own.line or line, path=own.path or self.path)
        self.state.variables[name] = marked

    # --- unset --------------------------------------------------------------------------------------

    def unset_command(self, items: Items, line: int) -> None:
        functions = False
        self.state.status = DONE
        for item in items:
            text = texts.known(item.text) if isinstance(item, Field) else None
            if text is None:
                raise Doubt("a name that is unset is not known", line)
            if text in ("-f", "-v", "--"):
                functions = text == "-f"
            elif functions:
                self.state.functions.pop(text, None)
            elif _NAME.fullmatch(text):
                own = self.state.variables.get(text)
                if own is None and text in self.state.functions:
                    raise Doubt(f"{text} is a function and may be a variable", line)
                self.unset(text, line)
            elif found := re.fullmatch(r"([A-Za-z_]\w*)\[(.*)\]", text):
                self._unset_element(found.group(1), found.group(2), line)
            else:
                raise Doubt(f"unset {text}", line)

    def _unset_element(self, name: str, index: str, line: int) -> None:
        old = self.state.look_up(name)
        if old.keyed is not None and not re.search(r"[$`@*]", index):
            keyed = tuple(pair for pair in old.keyed if pair[0] != index)
            self.state.variables[name] = replace(old, keyed=keyed)
            return
        number = int(index) if re.fullmatch(r"-1|\d{1,9}", index) else None
        if old.items and number in (-1, len(old.items) - 1) and isinstance(old.items[-1], Field):
            self.state.variables[name] = replace(old, items=old.items[:-1])
            return
        self.state.variables[name] = replace(
            old, text=unknown("an element was unset", line), items=None, keyed=None, maybe_unset=True
        )


def _braces(node: Assignment) -> bool:
    if not isinstance(node.value, Word):
        return False
    return any(
        isinstance(part, Literal) and not part.quoted and re.search(r"\{.*(,|\.\.)", part.text)
        for part in node.value.parts
    )
