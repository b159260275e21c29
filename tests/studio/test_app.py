"""The program: folders that it refuses, and a page that goes on after errors."""

import threading

import pytest

from helpers import EXAMPLE
from vigor.basics.errors import UserError
from vigor.studio import app


def serve(task, out):
    app.serve(task, out, None, "127.0.0.1", 0)


def test_a_task_that_is_not_there_is_refused_before_there_is_a_folder(tmp_path):
    with pytest.raises(UserError, match="defines no MISSING"):
        serve(f"{EXAMPLE}:MISSING", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match=r"file.* cannot be written to: .*; choose another --out"):
            serve("planar-reacher", out)


def test_a_folder_has_one_studio(tmp_path):
    with app._claimed(tmp_path), pytest.raises(UserError, match="another studio is open"):
        serve("planar-reacher", tmp_path)
    with app._claimed(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


class Everything:
    """Session, what its parts share, scene and panel in one; the first call of one method fails."""

    def __init__(self, ended, failing):
        self.notice, self.changes, self.done = "", 0, []
        self._ended, self._failing = ended, failing

    @property
    def shared(self):
        return self

    def watch(self):
        self.changes += 1
        self._act("watch")

    def draw_traces(self):
        self._act("draw_traces")

    def refresh(self):
        if self.done.count("refresh") == 2:
            self._ended.set()
        self._act("refresh")

    def _act(self, name):
        self.done.append(name)
        if name == self._failing and self.done.count(name) == 1:
            raise KeyError("lost")


@pytest.mark.parametrize("failing", ["watch", "draw_traces", "refresh"])
def test_the_page_is_refreshed_after_any_error(failing):
    ended = threading.Event()
    everything = Everything(ended, failing)
    app._watch(ended, everything, everything, everything, pause=0.0)
    assert everything.notice == "KeyError: 'lost'"
    assert everything.done == ["watch", "draw_traces", "refresh"] * 3
