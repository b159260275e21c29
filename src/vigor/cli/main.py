"""The entry point of `vigor`: which command is meant, and how what goes wrong is said."""

import contextlib
import gc
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import make_dataclass
from itertools import groupby
from typing import Annotated, Any, Union

import tyro
from tyro.conf import OmitArgPrefixes, OmitSubcommandPrefixes, subcommand

from vigor.basics import device
from vigor.basics.errors import Notice, UserError, near_misses
from vigor.basics.serialisation import is_plain
from vigor.basics.version import __version__
from vigor.cli import (
    benchmark,
    demos,
    evaluate,
    export,
    inspect,
    open,
    pack,
    plan,
    practise,
    report,
    robot,
    show,
    studio,
    suggest,
    train,
)

COMMANDS: dict[str, Any] = {
    "train": train.Train,
    "evaluate": evaluate.Evaluate,
    "report": report.Report,
    "open": open.Open,
    "plan": plan.Plan,
    "export": export.Export,
    "show": show.Show,
    "suggest": suggest.Suggest,
    "practise": practise.Practise,
    "pack": pack.Pack,
    "inspect": inspect.Inspect,
    "benchmark": benchmark.Benchmark,
    "demos": demos.Demos,
    "studio": studio.Studio,
    "robot": robot.Robot,
}


OFTEN = 100_000
"""Objects made between two searches for garbage."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point. Exit codes: 0 done, 2 bad input (one sentence), 3 no solution holds, 130 interrupted."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Nearly all that is imported and traced stays: to look for garbage as often as usual is a tenth of a first plan.
    gc.set_threshold(OFTEN)
    with warnings.catch_warnings():
        # Other libraries' warnings are for programmers; what the user should know is said as a sentence.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", Notice)
        warnings.filterwarnings("always", device.DAMAGED_ENTRY)
        warnings.showwarning = _notices()
        code = _guarded(words)
    if code:
        sys.exit(code)


def _notices() -> Callable[..., None]:
    """Says each notice once, however often the command comes by."""
    said = set()

    def show(message: Warning | str, *rest: Any) -> None:
        if device.mend_cache(str(message)):
            return
        if str(message) not in said:
            said.add(str(message))
            _say(str(message))

    return show


def _guarded(words: list[str]) -> int:
    """The exit code of a command; everything that the input can cause is one sentence."""
    try:
        if words[:1] in (["--version"], ["-V"]):
            print(f"vigor {__version__}")
            return 0
        for word in words:
            if not is_plain(word):
                raise UserError(f"{word!r} has characters that cannot be shown; write it without them")
        return parse(words)(words)
    except UserError as error:
        return _say(str(error))
    except KeyboardInterrupt:
        return _say("stopped", 130)
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not _OUT_OF_MEMORY.search(str(error)):
            raise
        return _say("there is not enough memory; lower --chunk, --samples, --components or --test-contexts")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _say(f"{error.filename or 'a file'}: {error.strerror or error}; choose another place")


_OUT_OF_MEMORY = re.compile("RESOURCE_EXHAUSTED|out of memory|bad_alloc|failed to allocate", re.IGNORECASE)
"""Words of XLA where memory does not suffice."""


def _say(sentence: str, code: int = 2) -> int:
    # Names that files bring along may hold codes that terminals obey.
    print("vigor:", "".join(letter if letter.isprintable() else "?" for letter in sentence), file=sys.stderr)
    return code


def parse(words: list[str]) -> Any:
    """The command that the words mean; `train` has the options and defaults of its task and method."""
    if not words or words[0].startswith("-"):
        return _parsed(words, _overview(), "vigor", "Versatile robot behaviour from a handful of demonstrations.")
    name, *options = words
    if name not in COMMANDS:
        known = ", ".join(COMMANDS)
        raise UserError(f"there is no command {name!r}{near_misses(name, COMMANDS)}; choose from {known}")
    kind, prog = COMMANDS[name], f"vigor {name}"
    if name != "train":
        return _parsed(options, kind, prog)
    kind = train.for_method(options)
    # The help of `train` is that of the task and method it names, so these come first.
    first = _parsed([word for word in options if word not in ("-h", "--help")], kind, prog)
    if not first.task or first.resume is not None:
        return _parsed(options, kind, prog)
    from vigor.runs.presets import preset
    from vigor.tasks import load_task

    task = load_task(first.task)
    defaults = kind(settings=preset(task, first.preset, first.method), demos_per_context=task.source.per_context)
    return _parsed(options, kind, prog, default=defaults)


def _overview() -> Any:
    """All commands, without their options, which take long to gather."""
    names = [
        Annotated[make_dataclass(name, (), namespace={"__doc__": kind.__doc__}), subcommand(name)]
        for name, kind in COMMANDS.items()
    ]
    return Union[tuple(names)]  # noqa: UP007


def _parsed(words: list[str], kind: Any, prog: str, description: str | None = None, **default: Any) -> Any:
    """Words as a command; a mistake is a UserError instead of the parser's boxes."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(
                kind,
                args=words,
                prog=prog,
                description=description,
                config=(OmitArgPrefixes, OmitSubcommandPrefixes),
                **default,
            )
    except SystemExit as stop:
        if not stop.code:
            raise
        raise UserError(_sentence(said.getvalue(), prog)) from None


def _sentence(boxes: str, command: str) -> str:
    """The first statement of the parser's boxes, the option that it finds most similar, and where to read on."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", boxes)
    lines = [line.strip(" │") for line in plain.splitlines()]
    parts = [list(part) for rule, part in groupby(lines, _is_rule) if not rule]
    # Where the output cannot show boxes, the title is a part of its own.
    first, *others = parts if plain.startswith("╭") else parts[1:] or [[]]
    statement = re.sub(r"\s+", " ", " ".join(first)).strip(" .") or "these options are not understood"
    if similar := [line.split()[0] for part in others for line in part if line.startswith("--")]:
        statement += f" (did you mean {similar[0]}?)"
    return f"{statement[0].lower()}{statement[1:]}; see {command} --help"


def _is_rule(line: str) -> bool:
    """Whether a line of the parser's boxes is a border, with or without a title."""
    return line.startswith("╭") or not re.search(r"\w", line)
