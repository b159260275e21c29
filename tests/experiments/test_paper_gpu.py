"""benchmarks/paper_gpu.py deals the paper's experiments out into jobs, the most telling first."""

import runpy
from pathlib import Path

import pytest

from standins import FakeData

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "paper_gpu.py"))


@pytest.mark.parametrize("name", SCRIPT["PARTS"])
def test_a_job_is_a_configuration_with_at_most_ten_seeds(name):
    suite, choice = SCRIPT["PARTS"][name]
    cells = suite(choice, FakeData())
    jobs = list(SCRIPT["jobs"](cells))
    assert all(len({cell.batch for cell in job}) == 1 and len(job) == 10 for job in jobs)
    assert sorted(cell.id for job in jobs for cell in job) == sorted({cell.id for cell in cells})
    assert min(cell.setup.seed for cell in cells) >= 400


def test_a_suite_begins_with_the_usual_settings():
    suite, choice = SCRIPT["PARTS"]["planar-ablations"]
    varied = [job[0].varied for job in SCRIPT["jobs"](suite(choice, FakeData()))]
    assert varied[0] == ""
    assert varied[1] == "descriptors"
    assert {job[0].preset for job in SCRIPT["jobs"](suite(choice, FakeData()))} == {"paper"}
