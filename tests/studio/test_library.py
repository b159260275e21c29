"""The library: demonstrations are on disk at once, can be undone, and survive a death while saving."""

import json

import numpy as np
import pytest

from helpers import solving
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demonstrations
from vigor.studio.library import Library
from vigor.tasks import load_task

PLANAR = load_task("planar-reacher")


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
    assert library.last is None
    assert library.redo().done == "saved"
    assert (library.last.done, library.undone.done) == ("saved", "deleted")
    library.add(context, movement)  # What was taken back before is gone.
    assert library.undone is None
    with pytest.raises(UserError, match="nothing to make again"):
        library.redo()


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
    with pytest.raises(UserError, match=r"must name an \.npz file beside it|arrays must be a text"):
        demonstrations.load(tmp_path)
