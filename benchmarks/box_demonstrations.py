"""Whether the box pusher's demonstrations are made again as they are shipped, context by context.

    python benchmarks/box_demonstrations.py [--contexts 0 1] [--out FILE]

Every context has random numbers of its own, so that some stand for all: a context takes about two minutes on one core,
all of them what `vigor demos generate` takes.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from vigor.demonstrations.preprocessing import fit
from vigor.runs.setup import own_demonstrations
from vigor.tasks import load_task

SEED, PER_CONTEXT = 0, 4
"""Settings that they were generated with."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--out", type=Path, default=Path("docs/results/box_demonstrations.json"))
    given = parser.parse_args()
    task = load_task("box-pusher")
    shown, generate = own_demonstrations(task), task.source.generate
    assert generate is not None
    drawn = np.asarray(task.sample_contexts(np.random.default_rng(SEED), len(shown.contexts)), float)
    found = {"contexts differ by": float(np.abs(drawn - shown.contexts).max()), "weights differ by": {}}
    print(found, flush=True)
    for index in given.contexts:
        made = generate(np.random.default_rng([SEED, index]), drawn[index], PER_CONTEXT)
        weights, own = fit(task, made, 0.0), shown.weights[shown.context_of == index]
        same = float(np.abs(weights - own).max()) if weights.shape == own.shape else f"{len(weights)}, not {len(own)}"
        found["weights differ by"][str(index)] = same
        given.out.write_text(json.dumps(found) + "\n")
        print(found, flush=True)


if __name__ == "__main__":
    main()
