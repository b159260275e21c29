"""The rooms of the package, their modules and the imports between them, written into docs/architecture.md.

    python docs/architecture.py            # write it anew, and print the lines of every room
    python docs/architecture.py --check    # fail if it is no longer true

The words come from docstrings, the order of rooms from the contracts in pyproject.toml.
"""

import argparse
import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "vigor"
PAGE = ROOT / "docs" / "architecture.md"
FILE_LINES, FUNCTION_LINES = 300, 50
REASONS = {
    "api.py: train": "its signature and docstring are the interface; the work is two calls",
    "demonstrations/dataset.py": "the type, its checks and the description of its files belong together",
    "learning/network_training.py: train": "one compiled loop; its steps are closures over settings and data",
    "runs/run.py": "what a run has in its folder, and the loop that writes it",
    "tasks/reachers/generation.py: reacher": "its steps are closures over an arm and its targets",
}
"""Why a file or function is longer."""
"""Lines above which a file or a function is named."""

INTRODUCTION = """# Architecture

Written by `python docs/architecture.py` from docstrings and imports, and kept true by a test: edit those, then run it.

The package is a house of rooms. A room imports only rooms below it, also inside functions; `lint-imports`, part of
`make test`, checks that. `vigor/__init__.py` is the public surface, which no room but the command line imports. `tests`
has the same rooms. [concepts.md](concepts.md) explains the method and where it lives.
"""


def rooms() -> list[str]:
    """Names of the rooms, highest first; the API, a single module, counts as one."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [name for name in layers if name != "__main__"]


def summary(path: Path) -> str:
    """First paragraph of a module's docstring, in one line."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if not docstring:
        raise SystemExit(f"{path.relative_to(ROOT)} has no docstring; its first paragraph belongs into {PAGE.name}")
    return " ".join(docstring.split("\n\n")[0].split())


def listing(folder: Path, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Indented names of a folder and what is in it, with their summaries; rooms in their order, the rest by name."""
    yield "  " * depth + f"{folder.name}/", summary(folder / "__init__.py")
    for path in sorted(folder.glob("*.py")):
        if path.name != "__init__.py":
            yield "  " * (depth + 1) + path.name, summary(path)
    inner = [folder / name for name in rooms()] if folder == PACKAGE else sorted(folder.iterdir())
    for path in inner:
        if (path / "__init__.py").exists():
            yield from listing(path, depth + 1)


def arrows() -> dict[str, set[str]]:
    """The rooms that each room imports from, directly."""
    graph = grimp.build_graph("vigor", cache_dir=None)
    found: dict[str, set[str]] = {room: set() for room in rooms()}
    for importer, modules in found.items():
        for module in graph.find_descendants(f"vigor.{importer}") | {f"vigor.{importer}"}:
            modules |= {
                imported.split(".")[1]
                for imported in graph.find_modules_directly_imported_by(module)
                if "." in imported
            }
        modules.discard(importer)
    return found


def essential(edges: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Arrows that no path over other rooms replaces; rooms come highest first."""
    reached: dict[str, set[str]] = {}
    for room in reversed(edges):
        below = edges[room] & reached.keys()
        reached[room] = below.union(*(reached[other] for other in below))
    return [
        (room, imported)
        for room in edges
        for imported in edges
        if imported in edges[room] and not any(imported in reached[other] for other in edges[room] - {imported})
    ]


def large() -> tuple[dict[str, int], dict[str, int]]:
    """Files and functions that are long, with their lines."""
    files, functions = {}, {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(PACKAGE))
        files[name] = len(text.splitlines())
        module = ast.parse(text)
        owners: list[ast.Module | ast.ClassDef] = [module, *(x for x in module.body if isinstance(x, ast.ClassDef))]
        for owner in owners:
            prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
            for node in owner.body:
                if isinstance(node, ast.FunctionDef):
                    functions[f"{name}: {prefix}{node.name}"] = (node.end_lineno or 0) - node.lineno + 1
    return (
        {name: lines for name, lines in files.items() if lines > FILE_LINES},
        {name: lines for name, lines in functions.items() if lines > FUNCTION_LINES},
    )


def page() -> str:
    """The text of docs/architecture.md."""
    tree = list(listing(PACKAGE))
    width = max(len(name) for name, _ in tree)
    names, edges = rooms(), arrows()
    broad = max(map(len, names))
    marks = [
        f"{room:<{broad}} {' '.join('·x'[other in edges[room]].center(len(other)) for other in names)}".rstrip()
        for room in names
    ]
    files, functions = large()
    return "\n".join(
        [
            INTRODUCTION,
            "## Rooms and modules",
            "",
            "```",
            *(f"{name:<{width}}  {text}" for name, text in tree),
            "```",
            "",
            "## Imports between rooms",
            "",
            "Arrows that a path over other rooms replaces are left out here, and shown below.",
            "",
            "```mermaid",
            "graph TD",
            *(f"    {importer} --> {imported}" for importer, imported in essential(edges)),
            "```",
            "",
            "Each row marks what a room imports:",
            "",
            "```",
            f"{'':<{broad}} {' '.join(names)}",
            *marks,
            "```",
            "",
            f"## Files above {FILE_LINES} lines, functions above {FUNCTION_LINES}",
            "",
            *([f"- `{name}`: {REASONS[name]}." for name in (*files, *functions)] or ["None."]),
            "",
        ]
    )


def report() -> str:
    """Lines of every room, and of what is long."""
    paths = {room: [PACKAGE / f"{room}.py", *(PACKAGE / room).rglob("*.py")] for room in rooms()}
    counts = {
        room: sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files if path.exists())
        for room, files in paths.items()
    }
    files, functions = large()
    rows = {**counts, "all rooms": sum(counts.values()), **files, **functions}
    return "\n".join(f"{lines:6,}  {name}" for name, lines in rows.items())


def main() -> None:
    parser = argparse.ArgumentParser(description="Write docs/architecture.md.")
    parser.add_argument("--check", action="store_true", help="only say whether the file is true")
    new = page()
    if parser.parse_args().check:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != new:
            sys.exit("docs/architecture.md is no longer true; run: python docs/architecture.py")
    else:
        PAGE.write_text(new, encoding="utf-8")
        print(report())


if __name__ == "__main__":
    main()
