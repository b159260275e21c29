"""Fuzzing of `torture.py`: files of every kind, and words of every command, that nobody means."""

import os
import random
import shutil
from contextlib import suppress
from pathlib import Path

from mutations import Mutation, mutate
from torture_kinds import kinds
from torture_processes import commands, fault_of, said

JUNK = (
    *(
        "",
        " ",
        "x",
        "a b",
        "a\nb",
        "[/b]",
        "$\\q$",
        "\x1b[2J",
        "@x",
        "..",
        "/dev/zero",
        "/proc/self/mem",
        "/nowhere/x",
        "-h1",
        "--help=x",
    ),
    *(
        "nan",
        "inf",
        "-1",
        "-0.0",
        "0",
        "1",
        "3",
        "1e9",
        "1e12",
        "1e400",
        "1e-400",
        "1_0",
        "\uff11",
        "9" * 18,
        "9" * 5000,
    ),
    *("sphere:nan,0,1", "sphere:1_0,0,1", "sphere:0,0,1", "box:0,0,0,0", "box:1"),
)
"""Words in place of an option's."""


OPTIONS = commands("""
    evaluate run --samples ?
    evaluate run --seed ?
    plan run --out new.json --context ? ? 1 0
    plan run CONTEXT --out new.json --keep-out ?
    plan run CONTEXT --out new.json --every ?
    plan run CONTEXT --out new.json --seconds ?
    plan run CONTEXT --out new.json --samples ?
    plan run CONTEXT --out ?
    plan run --contexts-file ? --out new.json
    plan ? CONTEXT
    export plan.json CSV --rate ?
    export plan.json CSV --seconds ?
    export plan.json CSV --context ?
    export plan.json CSV --solution ?
    plan run CONTEXT --out new.json --via ? --hold ?
    plan run CONTEXT --out new.json --via 0.5,?,0.1
    plan run CONTEXT --out new.json --pointing ?
    plan run CONTEXT --out new.json --start ? ?
    plan skill.vigor --task ? CONTEXT --out new.json
    plan skill.vigor --task TASK CONTEXT --out new.json --every ?
    export plan.json CSV --start-pose ? ? ? ? ?
    export plan.json --format lerobot --out new --unit ? --names ?
    export plan.json --format mcap --out new --topics ? ?
    pack run --out ?
    pack run --out new.vigor --every ?
    pack run --out new.vigor --licence ?
    pack ? --out new.vigor
    inspect ?
    suggest skill.vigor --task TASK --contexts ?
    show run --rerun ?
    export plan.json CSV --urdf ?
    export plan.json CSV --pacing ?
    export plan.json --format ?
    export plan.json --format csv --out ?
    show plan.json --context ? --out new.png
    show ?
    robot ?
    robot arm.urdf --tool ? --base ?
    suggest run --contexts ?
    suggest run --seed ?
    report ?
    demos generate TASK --out new --contexts ?
    demos generate TASK --out new --per-context ?
    demos generate TASK --out ? --contexts 2
    demos import TASK ? --out new
    demos import POINT lerobot --out new --unit ?
    demos import POINT lerobot --out new --key ? --episodes ?
    demos import POINT lerobot --out new --joints ? ?
    demos import POINT bag --out new --pause ? --topics ?
    demos import POINT bag --out new --context-keys ?
    demos import POINT robomimic.hdf5 --out new --mask ?
    demos import POINT lerobot --out new --contexts-file ?
    demos import scene/small.toml ? --out new
    demos check ?
    demos show demos --task TASK --out ?
    train TASK SMALL --out new --test-contexts ?
    train TASK SMALL --out new --train-contexts ?
    train TASK SMALL --out new --seed ?
    train TASK SMALL --out new --demos ?
    train TASK SMALL --out new --descriptors ?
    train --resume ?
    train ? --method ?
    benchmark paper --workers ? --scheduler ?
    studio ? --port ?
    ?
    ? ?
""")
"""Commands with places for words."""


def fresh(pristine: Path) -> Path:
    """A copy of everything, as the working folder."""
    work = pristine.parent / "work"
    os.chdir(pristine.parent)
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(pristine, work)
    os.chdir(work)
    return work


def plain(pristine: Path) -> tuple[tuple[str, ...], ...]:
    """Commands that read files, each once."""
    return tuple(dict.fromkeys(command for kind in kinds(pristine) for command in kind.commands))


def as_it_is(pristine: Path, words: tuple[str, ...]) -> tuple[str, str] | None:
    """A command with files that nobody has changed: were it refused, fuzzing would show nothing."""
    fresh(pristine)
    end = said(list(words))
    return None if end.code in (0, 3) else ("right refusals", f"{words}: {end.error[-400:]}")


def fuzz_file(pristine: Path, seed: int) -> tuple[str, str] | None:
    """Change one file, and let a command read it."""
    rng = random.Random(seed)
    kind = rng.choice(kinds(pristine))
    path = fresh(pristine) / kind.file
    content = path.read_bytes()
    mutation = mutate(path, rng, kind.read_as, kind.contents(path) if callable(kind.contents) else kind.contents)
    if kind.seal is not None:
        # Without its digest everything that was changed is noticed.
        if rng.random() < 0.7:
            if path.is_file() and not path.is_symlink():
                with suppress(Exception):  # What is no plan or skill any more cannot be sealed.
                    kind.seal(path)
        else:
            mutation = mutation._replace(wrong=True)
    if path.is_file() and not path.is_symlink() and path.read_bytes() == content:
        mutation = Mutation(mutation.words, False)
    words = list(rng.choice(kind.commands))
    end = said(words)
    fault = fault_of(end, mutation.wrong and mutation.words != "gone")
    return fault and (fault, f"{kind.file}, {mutation.words}, {words[0]}: {end.error[-500:]}")


def fuzz_words(pristine: Path, seed: int) -> tuple[str, str] | None:
    """A command with words that nobody means."""
    rng = random.Random(seed)
    fresh(pristine)
    words = [rng.choice(JUNK) if word == "?" else word for word in rng.choice(OPTIONS)]
    end = said(words)
    fault = fault_of(end, False)
    return fault and (fault, f"{' '.join(words)[:200]!r}: {end.error[-500:]}")
