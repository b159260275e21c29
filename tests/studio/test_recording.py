"""What a page sends, recordings, and the folder they are kept in."""

import json

import numpy as np
import pytest

from helpers import solving
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demonstrations
from vigor.studio import incoming, recording
from vigor.studio.library import Library
from vigor.studio.recording import RATE, Recorder
from vigor.tasks import load_task

PLANAR = load_task("planar-reacher")


# What comes in


@pytest.mark.parametrize(
    "junk", [None, "x", [1, 2], [1, 2, "a"], [1, 2, np.nan], [1, 2, np.inf], [[1, 2, 3]], {}, 10**400]
)
def test_what_is_no_place_is_left_out(junk):
    assert incoming.place(junk) is None


def test_values_are_drawn_between_their_bounds():
    np.testing.assert_array_equal(incoming.vector([-1e300, 0.5, 1e300], (0, 0, 0), (1, 1, 1)), [0, 0.5, 1])
    assert incoming.whole(1e300, 10, 20) == 20
    assert incoming.whole(-3, 10, 20) == 10
    assert [incoming.whole(junk, 0, 9) for junk in (None, "7", np.nan, np.inf, True, [1])] == [None] * 6


# Recording


def test_real_time_becomes_even_steps():
    times = np.array([0.0, 0.05, 0.3, 1.0])
    even = recording.evenly(times, np.stack([times, 2 * times], axis=1))
    np.testing.assert_allclose(even[:, 0], np.arange(RATE + 1) / RATE, atol=1e-9)
    np.testing.assert_allclose(even[:, 1], 2 * even[:, 0])


def test_a_recording_ends_with_its_movement():
    recorder = Recorder()
    recorder.add(0.0, np.zeros(1))
    recorder.start()
    for time_ in np.arange(0.0, 5.0, 0.01):
        recorder.add(time_, np.array([min(time_, 2.0)]))
    made = recorder.finish()
    assert 2.0 * RATE - 3 < len(made) < 2.0 * RATE + 3
    assert not recorder.active


def test_nothing_and_rest_are_refused_and_endless_recordings_cut():
    recorder = Recorder()
    recorder.start()
    with pytest.raises(UserError, match="nothing was recorded"):
        recorder.finish()
    recorder.start()
    for time_ in range(100):
        recorder.add(time_ / 10, np.ones(2))
    with pytest.raises(UserError, match="hardly moved"):
        recorder.finish()
    recorder.start()
    for time_ in range(1000):
        recorder.add(float(time_), np.array([time_]))
    assert recorder.seconds <= recording.LONGEST


# The library


def test_each_demonstration_is_on_disk_at_once(tmp_path):
    library = Library(PLANAR, tmp_path / "demos")
    context, *made = solving()
    for number, movement in enumerate(made, start=1):
        library.add(context, movement)
        assert len(demonstrations.load(tmp_path / "demos", PLANAR).weights) == number
    other = context + 0.01
    with pytest.raises(UserError, match="short of solving"):
        library.add(context + 3.0, made[0])
    library.add(other, made[0])
    found = demonstrations.load(tmp_path / "demos", PLANAR)
    assert found.context_of.tolist() == [0, 0, 0, 1]
    assert (library.count(context), library.count(other), library.count(other + 1)) == (3, 1, 0)
    assert len(list((tmp_path / "demos").iterdir())) == 2
    assert Library(PLANAR, tmp_path / "demos").current.context_of.tolist() == [0, 0, 0, 1]


def test_deletions_and_additions_are_undone(tmp_path):
    library = Library(PLANAR, tmp_path)
    with pytest.raises(UserError, match="nothing to undo"):
        library.undo()
    context, movement, *_ = solving()
    library.add(context, movement)
    kept = library.current
    library.delete(0)
    assert library.current is None
    assert Library(PLANAR, tmp_path).current is None
    with pytest.raises(UserError, match="no such demonstration"):
        library.delete(0)
    library.undo()
    np.testing.assert_array_equal(demonstrations.load(tmp_path, PLANAR).weights, kept.weights)
    library.undo()
    assert library.current is None
    assert not library.can_undo


@pytest.mark.parametrize("writer", ["write_arrays", "write_json"])
def test_a_death_while_saving_leaves_what_was_there(tmp_path, monkeypatch, writer):
    library = Library(PLANAR, tmp_path)
    context, first, second, third = solving()
    library.add(context, first)

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, writer, die)
        with pytest.raises(KeyboardInterrupt):
            library.add(context, second)
    assert len(demonstrations.load(tmp_path, PLANAR).weights) == 1
    again = Library(PLANAR, tmp_path)
    again.add(context, third)
    assert len(demonstrations.load(tmp_path, PLANAR).weights) == 2
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["../other.npz", "/etc/passwd", "x.txt", 3, ""])
def test_a_header_names_a_file_beside_it(tmp_path, name):
    Library(PLANAR, tmp_path).add(*solving()[:2])
    header = tmp_path / demonstrations.HEADER
    header.write_text(json.dumps({**json.loads(header.read_text()), "arrays": name}))
    with pytest.raises(UserError, match=r"must name an \.npz file beside it"):
        demonstrations.load(tmp_path)
