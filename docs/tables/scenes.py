"""Tables of scenes, of arms, and of what they touch, as Markdown."""

from statistics import mean
from typing import Any

from docs.tables.markdown import result, table


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


def plans() -> str:
    from plans import table

    return table(result("plans")).replace(".\n", ".\n\n") + "\n"


TABLES = (scenes, self_collisions, arms, plans)
