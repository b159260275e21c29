"""Tables of data in and plans out, of skills, and of what files can do, as Markdown."""

from typing import Any

from docs.tables.markdown import result, table


def data() -> str:
    found = result("data")

    def timed(row: dict[str, Any]) -> str:
        return f"{row['seconds']:.1f} s, {row['cpu_s']:.1f} s of all cores together, at a load of {row['load']:.1f}"

    lines = {
        f"{row['format']}: {row['episodes']} episodes of {row['steps']} steps imported": timed(row)
        for row in found["imported"]
    }
    for row in found["returned"]:
        lines[f"a plan as {row['format']}, read again: largest difference"] = f"{row['difference']:.1g}"
    for row in found["bags"]:
        kept = f"{row['read']:,} of {row['states']:,} states {'as they were' if row['same'] else 'CHANGED'}"
        said = f"{kept}; jumps of {row['clocks said to jump']} clocks said"
        lines[f"a bag ({row['format']}) of two topics, joints shuffled, clocks that jump"] = said
    for row in found.get("hostile", ()):
        end = "a sentence" if row["a sentence"] and not row["wrote"] else f"NOT A SENTENCE, or wrote {row['wrote']}"
        lines[f"hostile: {row['file']}"] = f"{end}, {row['MB']:,} MB of memory in all, {row['cpu_s']:.1f} s"
    if "help" in found:
        lines["`vigor --help`"] = timed(found["help"])
    for row in found.get("two commands", ()):
        if row["command"] == "train":
            rates = f"success of the mixture {row['train']:.3f} (train), {row['test']:.3f} (test)"
            lines[f"`vigor train SCENE --demos FOLDER`, {row['episodes']} episodes of an SO-101"] = (
                f"{rates}; {timed(row)}"
            )
        else:
            ways = f"{row['holding']} of {row['solutions']} solutions hold"
            lines["then `vigor plan RUN --context ...`"] = f"{ways}; {timed(row)}"
    for row in found["first plans"]:
        words = f"first plan of a {row['skill']} skill ({row['MB']} MB), cache {row['cache']}"
        lines[words] = f"said after {row['said']:.1f} s; with its picture {timed(row)}"
    return table([{"": words, "measured": figure} for words, figure in lines.items()])


def skills() -> str:
    """Skills of a run by how many ensembles they keep; what was measured in pieces counts by its contexts."""
    rows = result("skills")
    kept = {0: "the run itself", 1: "of all iterations, as packed", 2: "of every 2nd iteration"}
    lines = []
    for run in sorted({(row["task"], row["run"], row["every"]) for row in rows}):
        own = [row for row in rows if (row["task"], row["run"], row["every"]) == run]
        task, seed, every = run
        count = sum(row["contexts"] for row in own)

        def over_all(name: str, own: list[dict[str, Any]] = own, count: int = count) -> float:
            return sum(row["contexts"] * row[name] for row in own) / count

        line = {"task": task, "seed": str(seed), "networks": kept.get(every, f"of every {every}th iteration")}
        line |= {"MB": f"{own[0]['MB']:.2f}" if every else "", "contexts": str(count)}
        line |= {f"success: {name}": f"{over_all(name):.4f}" for name in ("best", "chosen", "mixture")}
        lines.append(line | {"s of a core a context": f"{sum(row['cpu_s'] for row in own) / count:.1f}"})
    return table(sorted(lines, key=lambda line: line["task"], reverse=True))


def torture() -> str:
    from torture_processes import table

    return table(result("torture"))


TABLES = (data, skills, torture)
