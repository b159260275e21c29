"""Tables and the chart that stored results make: python docs/tables.py writes them, --check says if they are true.

A table stands in its page between the comments `table: NAME` and `end`, where NAME is one of TABLES. Measured figures
stand nowhere else.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import chart
import paper_tables
import row_tables
from row_tables import table
from stored import RESULTS, ranges

from vigor.basics.settings import value_of
from vigor.runs.presets import preset

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("data.md", "paper.md", "performance.md", "studio.md")),
    *sorted(RESULTS.glob("*.md")),
]
BLOCK = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def result(name: str) -> Any:
    """A stored file of docs/results."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


INVARIANTS = {"copied": "copied, no learning", "carried": "carried, no learning", "paper": "paper's settings"}
"""Words for what rows of invariants have in place of VIGOR's reward."""
CONTEXTS = {"test": "test", "new": "plans, new", "far": "plans, far"}


def parts_of(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Parts of a row of invariants by their contexts."""
    return {name: part for name in CONTEXTS if (part := row if name == "test" else row.get(name))}


def invariants() -> str:
    names = {"success_best": "best", "success_chosen": "chosen", "success_mixture": "mixture"}
    names["predicted_mixture"] = "mixture, predicted"
    order = list(dict.fromkeys(row["task"] for row in result("invariants")))
    rows = sorted(result("invariants"), key=lambda row: order.index(row["task"]))
    return table(
        [
            {"task": row["task"], "reward": INVARIANTS.get(row["variant"], row["variant"])}
            | {"seeds": "{} to {}".format(*row["seeds"]), "contexts": CONTEXTS[name]}
            | {label: f"{mean(run[figure] for run in part['runs']):.3f}" for figure, label in names.items()}
            | calibrated([part["calibration"]])
            for row in rows
            for name, part in parts_of(row).items()
        ]
    )


def calibrated(parts: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Calibration of some parts of rows together, and how many contexts are called unknown."""
    from invariants import error

    unknown, failing = (sum(part[name] for part in parts) for name in ("unknown", "unknown_failing"))
    return {
        "calibration": f"{error(parts):.3f}",
        "unknown": f"{unknown} of {sum(part['contexts'] for part in parts)}",
        "of these fail": f"{failing / unknown:.2f}" if unknown else "",
    }


def invariants_calibration() -> str:
    """Calibration of the default settings over all tasks together, and of the floors."""
    kinds = {"both": "VIGOR", "copied": INVARIANTS["copied"]}
    found = [
        (words, [parts_of(row) for row in result("invariants") if row["variant"] == kind])
        for kind, words in kinds.items()
    ]
    return table(
        [
            {"": words, "contexts": CONTEXTS[name], "tasks": str(len(own))} | calibrated(own)
            for words, rows in found
            for name in CONTEXTS
            if (own := [parts[name]["calibration"] for parts in rows if name in parts])
        ]
    )


def suggestions() -> str:
    from suggestions import WAYS, compared

    rows = result("suggestions")
    if not rows:
        return table([])
    return table(
        [
            {"task": row["task"], "seeds": "{} to {}".format(*row["seeds"]), "contexts before": str(row["contexts"])}
            | {
                words: f"{mean(run[words]['success_mixture'] for run in row['runs']):.3f}"
                for words in ("before", *WAYS)
            }
            | {"suggested less random": compared([row], "random"), "less farthest": compared([row], "farthest")}
            for row in rows
        ]
        + [
            {"task": "all tasks", "seeds": "", "contexts before": "", **dict.fromkeys(("before", *WAYS), "")}
            | {"suggested less random": compared(rows, "random"), "less farthest": compared(rows, "farthest")}
        ]
    )


def iteration() -> str:
    """An iteration against an earlier revision, in calibration units."""
    words = {
        "earlier": "earlier, 5 components",
        "same components": "now, 5 components",
        "defaults": "now, 30 components",
    }
    rows = result("iteration")

    def units(task: str, kind: str) -> float:
        own = [row for row in rows if (row["task"], row["kind"]) == (task, kind)]
        return mean(row["iteration"] / row["unit"] for row in own)

    return table(
        [
            {"task": task, "": words[kind], "units": f"{units(task, kind):.3f}"}
            | {"of the earlier": f"{units(task, kind) / units(task, 'earlier'):.2f}"}
            for task in dict.fromkeys(row["task"] for row in rows)
            for kind in words
            if any((row["task"], row["kind"]) == (task, kind) for row in rows)
        ]
    )


def plans() -> str:
    from plans import table

    return table(result("plans")).replace(".\n", ".\n\n") + "\n"


def box_pusher() -> str:
    from box_pusher import table as lines

    return table(lines(result("box_pusher")))


def box_ahead() -> str:
    from box_pusher import ahead

    return table(ahead(result("box_pusher")))


def box_em_drex() -> str:
    """Settings that were tried for EM+D-REX on the box pusher, the best first."""
    usual = preset("box-pusher", "default", "em-drex")
    tried: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in result("box_em_drex"):
        values = {name: row["changes"].get(name, TRIED[name]) for name in TRIED}
        tried.setdefault(tuple(f"{values[name]:g}" for name in TRIED), []).append(row)
    lines = []
    for values, rows in sorted(tried.items(), key=lambda one: -mean(row["mixture"] for row in one[1])):
        chosen = all(float(text) == value_of(usual, name) for name, text in zip(TRIED, values, strict=True))
        settings = {name.replace("_", " "): text for name, text in zip(TRIED, values, strict=True)}
        figures = {name: f"{mean(row[name] for row in rows):.3f}" for name in ("best", "mixture")}
        lines.append(settings | figures | {"": "the default" if chosen else ""})
    return table(lines)


TRIED = {
    "reward_scale": 100.0,
    "room": 0.2,
    "kl_bound": 0.5,
    "iterations": 100,
    "em_samples": 4096,
    "em_components": 5,
    "noise_multiplier": 30.0,
}
"""Settings of EM+D-REX that were changed on the box pusher, with the values that the others were tried with."""


def box_carrying() -> str:
    from box_carrying import table as lines

    return table(lines(result("box_carrying")))


def box_mechanics() -> str:
    return table(result("box_mechanics")["lines"])


def scenes() -> str:
    """Test contexts and plans of every scene, by method, as means over seeds."""
    words = {"vigor": "VIGOR", "carried": "carried, no learning", "copied": "copied, no learning"}
    found, lines = result("scenes"), []
    for scene, method in sorted(
        {(row["scene"], row["method"]) for row in found}, key=lambda k: (k[0], list(words).index(k[1]))
    ):
        own = [row for row in found if (row["scene"], row["method"]) == (scene, method)]
        for part, label in {"test": "test", "new": "plans, new"}.items():
            rows = [row for row in own if part in row]
            if not rows:
                continue
            names = {"success_best": "best", "success_chosen": "chosen", "success_mixture": "mixture"}
            names["predicted_mixture"] = "mixture, predicted"
            rates = {
                label: f"{mean(row[part][name] for row in rows):.3f}" if name in rows[0][part] else ""
                for name, label in names.items()
            }
            holds = f"{mean(row[part]['holds'] for row in rows):.2f}" if "holds" in rows[0][part] else ""
            lines.append(
                {"scene": scene[3:].replace("_", " "), "method": words[method], "contexts": label}
                | rates
                | {"both ways found": f"{mean(row[part]['both'] for row in rows):.2f}"}
                | {"both drawn": f"{mean(row[part]['both_drawn'] for row in rows):.2f}", "plans that hold": holds}
                | {"around a keep-out": _kept_out(rows) if part == "new" else "", "seeds": str(len(rows))}
            )
    return table(lines)


def _kept_out(rows: list[dict[str, Any]]) -> str:
    """Contexts of all seeds that have a plan around a keep-out."""
    around = [row["obstacles"] for row in rows if "obstacles" in row]
    return f"{sum(one['held'] for one in around)} of {sum(one['of'] for one in around)}" if around else ""


def self_collisions() -> str:
    from self_collisions import table

    return table(result("self_collisions"))


def arms() -> str:
    """Time of an iteration and of a plan, by joint, beside the Panda's."""
    found = result("arms")["robots"]

    def by_joint(one: dict[str, Any], what: str) -> str:
        ratio = one[what] / one["joints"] * found["panda"]["joints"] / found["panda"][what]
        return f"{1000 * one[what]:.0f} ms; by joint {ratio:.2f} of the Panda's"

    names = {"iteration": "an iteration", "plan": "a plan, by iteration"}
    return table(
        [
            {"robot": robot, "joints": str(one["joints"])} | {words: by_joint(one, w) for w, words in names.items()}
            for robot, one in found.items()
        ]
    )


def _resemblance(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Means of rows over seeds."""
    names = ("coverage", "precision", "difference")
    success = {"success": f"{mean(row['mixture'] for row in rows):.3f}"}
    return success | {name: f"{mean(row[name] for row in rows):.2f}" for name in names}


KINDS = {
    "copied": "demonstrations of the nearest context, copied",
    "paper": "VIGOR, paper's settings",
    "default": "VIGOR",
    "five": "VIGOR, 5 components",
    "bc-t": "BC(T)",
    "bc-gmm-t": "BC-GMM(T)",
    "em-drex": "EM+D-REX",
}
PARTS = {"test": "without demonstrations", "train": "with"}
"""Contexts by whether demonstrations of them were learned from."""


def ways() -> str:
    """Ways of people found again, by task, kind of context and method."""
    lines = []
    ended = [row for row in result("ways")["rows"] if not row["stage"]]
    for task, part in ((task, part) for task in ("planar-reacher", "panda-reacher") for part in PARTS):
        for kind, words in KINDS.items():
            own = [row for row in ended if (row["task"], row["part"], row["kind"]) == (task, part, kind)]
            if own:
                more = {"entropy of ways": f"{mean(row['entropy'] for row in own):.2f}"}
                more |= {"of people": f"{mean(row['entropy_shown'] for row in own):.2f}"}
                more |= {"people like another": f"{mean(row['alike'] for row in own):.2f}"}
                known = {
                    "task": task,
                    "contexts": PARTS[part],
                    "method": words,
                    "seeds": ranges([row["seed"] for row in own]),
                }
                lines.append(known | _resemblance(own) | more)
    return table(lines)


def ways_lost() -> str:
    """Ways at the stages of runs of the defaults, and with weights and components as they were before."""
    rows = [row for row in result("ways")["rows"] if row["kind"] == "default"]
    words = {
        "start": "start",
        "iteration 10": "iteration 10",
        "iteration 30": "iteration 30",
        "end, all alike": "end, all components as likely",
        "one of a way, by reward and success": "end, by reward and success, the likeliest of each way alone",
        "end, by reward and success": "end, by reward and success",
        "": "end, by people and success: the result",
    }
    lines = []
    for task in dict.fromkeys(row["task"] for row in rows):
        for part in PARTS:
            for stage in words:
                own = [row for row in rows if (row["task"], row["part"], row["stage"]) == (task, part, stage)]
                if own:
                    known = {"task": task, "contexts": PARTS[part], "stage": words[stage]}
                    lines.append(known | _resemblance(own))
    return table(lines)


def ways_time() -> str:
    """What a run takes with a component for every demonstration, and with five."""
    lines = []
    rows = [row for row in result("ways")["rows"] if not row["stage"] and row["part"] == "train"]
    for task in ("planar-reacher", "panda-reacher"):
        for kind in ("default", "five"):
            own = [row for row in rows if (row["task"], row["kind"]) == (task, kind)]
            if own:
                taken = {"iterations": f"{mean(row['iterations'] for row in own):.0f}"}
                taken |= {"CPU seconds": f"{mean(row['cpu'] for row in own):.0f}"}
                lines.append({"task": task, "method": KINDS[kind], "runs": str(len(own))} | taken)
    return table(lines)


def ways_people() -> str:
    """People beside each other."""
    return table(
        [
            {"task": own["task"], "demonstrations": str(own["demonstrations"])}
            | {"ways": "; ".join(f"{name} {share:.2f}" for name, share in own["ways"].items())}
            | {"like another of the context": f"{own['alike']:.2f}", "of another context": f"{own['elsewhere']:.2f}"}
            | {
                "five cover of the other five": f"{own['half']:.2f}",
                "difference of their shares": f"{own['difference']:.2f}",
                "those of other contexts like one of it": f"{own['others'][0]:.2f}",
                "difference of their shares from its": f"{own['others'][1]:.2f}",
            }
            for own in result("ways")["people"]
        ]
    )


def gail_crosscheck() -> str:
    from gail_crosscheck import table

    return table(RESULTS) + "\n"


def gail_speed() -> str:
    found = result("gail_speed")
    names = {
        "seconds_a_million_steps": "a million steps, seconds of the clock",
        "seconds_an_update": "an update, seconds of the clock",
        "cpu_seconds_an_update": "an update, seconds of the processor",
    }
    return table(
        [
            {"": words}
            | {way: f"{found[key][way]:.3g}" for way in ("vectorised", "plain")}
            | {"times as fast": f"{found[key]['plain'] / found[key]['vectorised']:.1f}"}
            for key, words in names.items()
        ]
    )


def speed() -> str:
    """Two cores, in calibration units but where seconds or megabytes are named."""
    tasks = result("speed")["tasks"]

    def units(seconds: float, task: dict[str, Any]) -> str:
        return f"{seconds / task['unit']:.3g}"

    def until(task: dict[str, Any]) -> str:
        solved = task.get("until_solved")
        return f"{units(solved['seconds'], task)} (iteration {solved['iterations']:.0f})" if solved else ""

    def growth(task: dict[str, Any], what: str) -> str:
        grown = [item for item in task["growth"] if item["what"] == what]
        return ", ".join(f"{item['value']}: {item['iteration'] / task['unit']:.2g}" for item in grown)

    lines: dict[str, Callable[[dict[str, Any]], str]] = {
        "the unit, seconds": lambda task: f"{task['unit']:.2f}",
        "until mean test success keeps .98": until,
        "one iteration": lambda task: units(task["iteration"], task),
        "compilation, first time, seconds": lambda task: f"{task['compilation']:.1f}",
        "peak memory, MB": lambda task: f"{task['peak_memory_mb']:.0f}",
    }
    for part in tasks[0]["parts"]:
        lines[f"of an iteration: {part}"] = lambda task, part=part: units(task["parts"][part], task)
    for what in dict.fromkeys(item["what"] for item in tasks[0]["growth"]):
        lines[f"one iteration by {what}"] = partial(growth, what=what)
    return table([{"": words} | {task["task"]: value(task) for task in tasks} for words, value in lines.items()])


def gpu() -> str:
    found = result("gpu")
    return table(
        [
            {"task": row["task"], found["device"]: row["what"], "iterations": str(row["iterations"])}
            | {"time": f"{row['seconds']:.2f} s", "compilation": f"{row['compilation']:.0f} s"}
            | {"memory": f"{row['peak_memory_gib']:.2f} GiB", "best component": f"{row['success_best']:.3f}"}
            for row in found["rows"]
        ]
    )


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


ROWS = (
    *("headline", "presets", "methods", "resemblance", "mended", "settled", "verdicts"),
    *("findings", "sensitivity", "ablations"),
)


def studio_sentences() -> str:
    """What the studio's page has said on its tours, with a picture of each sentence and links to the others."""
    said: dict[tuple[str, str], list[str]] = {}
    for visit in json.loads((TOUR / "tour.json").read_text(encoding="utf-8")).values():
        for one in visit["seen"]:
            said.setdefault((one["sentence"], one["button"]), []).append(one["picture"])
    return table(
        [
            {"sentence": sentence, "button": button, "": f"![{sentence}]({_seen(first)})"}
            | {"others": ", ".join(f"[{Path(picture).stem.replace('_', ' ')}]({_seen(picture)})" for picture in others)}
            for (sentence, button), (first, *others) in said.items()
        ]
    )


TOUR = ROOT / "docs" / "pictures" / "studio"
"""Folder of the pictures of the studio."""


def _seen(picture: str) -> str:
    """Path of a picture, from a page."""
    return f"pictures/{TOUR.name}/{picture}"


def studio_kills() -> str:
    words = {
        "recording": "killed while a movement is recorded",
        "saving": "killed while demonstrations are saved",
        "learning": "killed while a run learns",
        "reload": "reloaded while a movement is recorded",
        "two pages": "two pages that drag and save at once",
    }
    return table(
        [
            {"": words[kind], "nothing lost in": f"{one['kept']} of {one['tries']}"}
            for kind, one in result("studio_kills").items()
        ]
    )


TABLES: dict[str, Callable[[], str]] = {
    **{name: getattr(row_tables, name) for name in ROWS},
    **{
        maker.__name__: maker
        for maker in (
            *(invariants, invariants_calibration, suggestions, iteration),
            *(plans, box_pusher, box_ahead, box_em_drex, box_carrying, box_mechanics),
            *(scenes, self_collisions, arms, ways, ways_lost, ways_people, ways_time),
            *(gail_crosscheck, gail_speed, speed, gpu, data, skills, torture, studio_sentences, studio_kills),
            *(paper_tables.differences, paper_tables.em_drex),
        )
    },
}


def written(text: str) -> str:
    """A page with its tables made anew."""

    def block(found: re.Match[str]) -> str:
        return f"<!-- table: {found[1]} -->\n{TABLES[found[1]]()}<!-- end -->"

    return BLOCK.sub(block, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the tables are true")
    check, wrong = parser.parse_args().check, []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (now := written(text)) != text:
            wrong.append(page.name)
            if not check:
                page.write_text(now, encoding="utf-8")
    if not chart.is_true():
        wrong.append(chart.PICTURE.name)
        if not check:
            chart.write()
    if check and wrong:
        sys.exit(f"{', '.join(wrong)}: no longer true; run: python docs/tables.py")


if __name__ == "__main__":
    main()
