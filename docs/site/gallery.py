"""Pages of the examples with their pictures, and the notebook: `make docs` runs them anew.

    python docs/site/gallery.py            all examples and the notebook, two at a time
    python docs/site/gallery.py 06         one of the examples
    python docs/site/gallery.py drawings   the notebook, for Sphinx to take

Pages are made in docs/gallery. Networks are smaller than usual, to be done in a minute each; pages say so. Programs run
so briefly that compiling them takes most of the time, so they are compiled without optimisation.
"""

import ast
import contextlib
import gc
import inspect
import io
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor
from matplotlib.figure import Figure

import vigor
from vigor.demonstrations import dataset
from vigor.planning import pictures
from vigor.reports import figures
from vigor.reports.drawing import clean
from vigor.studio import turntable

DOCS = Path(__file__).parents[1]
GALLERY, NOTEBOOKS = DOCS / "gallery", DOCS / "gallery" / "notebooks"
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))
SMALLER = {"test_contexts": 2, "samples": 40, "networks": 2, "width": 16, "layers": 1}
ONE_PROGRAM = ("02", "03", "04", "05")
"""Examples of which one plans with the run of another."""
NOTEBOOK, LIMIT = "drawings", 600
"""The notebook, and the seconds that a cell of it may take."""
DPI = 110
LANGUAGES = {".py": ("program", "python"), ".toml": ("scene", "toml")}
PAGE = """# {heading}

{title}

{text}

```{{figure}} {name}.png
:alt: {title}

{caption}
```

"""
SCENE = """Turn it with the mouse, and play it: all solutions of a plan for a new context, one after the other.

```{{raw}} html
<iframe class="scene" src="../{name}.html" title="{title}" loading="lazy"></iframe>
```

"""
CODE = """## The {kind}

```{{literalinclude}} ../../examples/{name}
:language: {language}
:caption: examples/{name}
```

"""
SAID = """## What it says

As this page was made, with smaller networks than usual:

```text
{said}
```
"""


def main(numbers: list[str]) -> None:
    """Make the pages of some examples, or of all in processes of their own, the longest first."""
    os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"
    gc.set_threshold(100_000)
    (GALLERY / "pages").mkdir(parents=True, exist_ok=True)
    if numbers == [NOTEBOOK]:
        execute(DOCS / f"{NOTEBOOK}.md")
        return
    if numbers:
        make(numbers)
        return
    alone = [[path.name[:2]] for path in reversed(EXAMPLES) if path.name[:2] not in ONE_PROGRAM]
    programs = [ONE_PROGRAM, *alone, [NOTEBOOK]]
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda own: subprocess.run([sys.executable, __file__, *own], check=True), programs)
        print(f"{len(list(done))} programs, {len(list(GALLERY.glob('*.md')))} pages in {GALLERY}")


def execute(notebook: Path) -> None:
    """Execute a notebook anew, in its folder, and keep what it says where Sphinx looks for it."""
    cache = get_cache(str(NOTEBOOKS))
    cache.clear_cache()
    cache.add_nb_to_project(str(notebook), read_data={"type": "plugin", "name": "myst_nb_md"})
    done = load_executor("local-serial", cache).run_and_cache(timeout=LIMIT)
    if not done.succeeded:
        record = cache.get_project_record(str(notebook))
        sys.exit(f"{notebook.name} failed:\n{record.traceback}")


def make(numbers: list[str]) -> None:
    """Make the pages of some examples, one after the other."""
    with TemporaryDirectory() as place:
        for path in (path for path in EXAMPLES if path.name[:2] in numbers):
            folder = Path(place) / ("run" if path.name[:2] in ONE_PROGRAM else path.stem)
            before = {item.name for item in folder.iterdir()} if folder.exists() else set()
            with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
                own = runpy.run_path(str(path))
                result = own["main"](folder, **_shorter(own["main"])) if "main" in own else own["TASK"]
            write(path, said.getvalue(), draw(path, folder, before, result))


def _shorter(program: Callable[..., Any]) -> dict[str, int]:
    """Words to an example that shorten it: fewer contexts to plan for, or settings of training."""
    known = inspect.signature(program).parameters
    return {"count": 24} if "count" in known else SMALLER if "settings" in known else {}


def draw(path: Path, folder: Path, before: set[str], result: Any) -> str:
    """Draw the picture of an example, from what it wrote or returned; returns its caption."""
    picture = GALLERY / f"{path.stem}.png"
    new = [item for item in sorted(folder.glob("*.*")) if item.name not in before] if folder.exists() else []
    drawn, tables, plans = ([item for item in new if item.match(end)] for end in ("*.png", "*.csv", "plan*.json"))
    if isinstance(result, vigor.Task):
        made = vigor.Demonstrations.generate(result, contexts=6)
        joints = dataset.trajectories(result, made)
        figures.demonstrations(result, made.contexts, made.context_of, joints).savefig(picture, dpi=DPI)
        return "Its demonstrations, which are generated."
    if isinstance(result, vigor.Run) and result.task.arm.robot is not None:
        _draw_scene(path, result)
    if drawn:
        picture.write_bytes(drawn[0].read_bytes())
        return f"What it draws: {drawn[0].name}."
    if tables:
        _over_time(tables[0]).savefig(picture, dpi=DPI)
        return f"What it writes, over time: {tables[0].name}."
    if plans:
        vigor.Plans.load(plans[0]).plot().savefig(picture, dpi=DPI)
        return f"What it plans: {plans[0].name}."
    run = result if isinstance(result, vigor.Run) else vigor.load(folder)
    run.plan(run.task.sample_contexts(np.random.default_rng(7), 6)).plot().savefig(picture, dpi=DPI)
    return "Plans for six new contexts."


def _draw_scene(path: Path, run: vigor.Run) -> None:
    """A page to turn with a plan for a new context."""
    plans = run.plan(run.task.sample_contexts(np.random.default_rng(1), 1))
    turntable.write(GALLERY / "pages" / f"{path.stem}.html", run.task, pictures.scenes(plans)[0])


def _over_time(path: Path) -> Figure:
    """Columns of a table over its first, the time."""
    with path.open() as file:
        names = file.readline().strip().split(",")
        values = np.loadtxt(file, delimiter=",")
    joints = [i for i, name in enumerate(names[1:], start=1) if not name.endswith(("velocity", "acceleration"))]
    figure = Figure(figsize=(7, 3), layout="constrained")
    ax = figure.subplots()
    for i in joints:
        ax.plot(values[:, 0], values[:, i], label=names[i])
    ax.set(xlabel=f"{names[0]} [s]")
    figure.legend(loc="outside right center", frameon=False, fontsize=8)
    clean(ax)
    return figure


def write(path: Path, said: str, caption: str) -> None:
    """Write the page of an example: its words, picture, scene, code and what it says."""
    title, _, text = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")
    scene = SCENE.format(name=path.stem, title=title) if (GALLERY / "pages" / f"{path.stem}.html").exists() else ""
    files = [item for item in (path.with_suffix(".toml"), path) if item.exists()]
    parts = [(item.name, *LANGUAGES[item.suffix]) for item in files]
    code = "".join(CODE.format(name=name, kind=kind, language=language) for name, kind, language in parts)
    text = re.sub(r"(it with): +(.*)", r"\1 `\2`.", text)
    lines = [line for line in said.splitlines() if not line.startswith(("compiling", "iteration"))]
    said = SAID.format(said="\n".join(lines).strip()) if lines else ""
    heading = path.stem[3:].replace("_", " ").capitalize()
    page = PAGE.format(heading=heading, title=title, text=text.strip(), name=path.stem, caption=caption)
    (GALLERY / f"{path.stem}.md").write_text(page + scene + code + said, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
