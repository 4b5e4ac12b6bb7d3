"""What a model would answer for one of our own tasks: the changed functions in one fenced block."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any

from benchmarks._tasks import Task
from heal_bot.core.events import Run
from heal_bot.core.model import Cost
from heal_bot.ports.language_model import Message, Reply


@dataclass(slots=True)
class Scripted:
    """A model that gives these answers in order, the last one again and again."""

    answers: Sequence[str]
    prompts: list[str] = field(default_factory=list)
    provider = "scripted"
    name = "scripted"
    window = 200_000
    max_output = 16_000

    def price(self, input_tokens: int, output_tokens: int) -> float:
        """Nothing."""
        return 0.0

    def ask(
        self,
        run: Run,
        system: str,
        messages: Sequence[Message],
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The next answer."""
        self.prompts.append("\n".join(message.text for message in messages))
        place = min(len(self.prompts), len(self.answers)) - 1
        return Reply(self.answers[place], Cost(), self.name)


def functions(source: str) -> dict[str, str]:
    """The text of each function and method, by qualified name."""

    def walk(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, str]]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_source_segment(source, node, padded=True)
                yield prefix + node.name, dedent(text or "")

    return dict(walk(ast.parse(source).body, ""))


def changed(task: Task, source: str) -> dict[str, str]:
    """The functions of a module that differ from those of the task."""
    before = functions(task.module)
    return {name: text for name, text in functions(source).items() if before.get(name) != text}


def answer(task: Task, source: str) -> str:
    """The answer that turns the task's module into this one."""
    lines = [line for line in source.splitlines() if line.startswith(("import ", "from "))]
    imports = "".join(f"{line}\n" for line in lines if line not in task.module.splitlines())
    blocks = (f"# {task.path}::{name}\n{text}" for name, text in changed(task, source).items())
    return "```python\n" + imports + "\n\n".join(blocks) + "\n```\n"


def useless(task: Task) -> str:
    """An answer that passes no test: the function to repair, which is not implemented."""
    text = functions(task.module)[task.target]
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    head = "".join(f"{line}\n" for line in text.splitlines()[: node.body[0].lineno - 1])
    return f"```python\n# {task.path}::{task.target}\n{head}    raise NotImplementedError\n```\n"
