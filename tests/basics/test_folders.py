"""Folders are written whole or not at all, and what a killed process left of one goes."""

import os
import time

import pytest

from vigor.basics import files, folders
from vigor.basics.errors import UserError


def fill(folder):
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("whole")


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o755), (0o077, 0o700)])
def test_a_folder_is_there_whole_with_the_permissions_that_the_user_wants(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        folders.write_whole(tmp_path / "new", fill)
    finally:
        os.umask(before)
    assert (tmp_path / "new" / "inner" / "file").read_text() == "whole"
    assert (tmp_path / "new").stat().st_mode & 0o777 == mode
    assert os.listdir(tmp_path) == ["new"]


def test_nothing_is_written_over(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("old", "link"):
        with pytest.raises(UserError, match="exists already"):
            folders.write_whole(tmp_path / name, fill)
    assert os.listdir(tmp_path / "old") == []


def test_a_failing_writer_leaves_nothing_and_a_disk_is_told_with_the_name_of_the_folder(tmp_path):
    def fail(folder):
        fill(folder)
        raise OSError(28, "No space left on device", "elsewhere")

    with pytest.raises(OSError, match="No space left on device") as error:
        folders.write_whole(tmp_path / "new", fail)
    assert error.value.filename == str(tmp_path / "new")
    assert os.listdir(tmp_path) == []


def test_what_a_killed_process_left_goes_an_hour_later_and_nothing_else(tmp_path):
    ours, others = ".new.0123abcd.vigor-part", (".new.0123abcx.vigor-part", ".new.vigor-part", ".git")
    for name in (ours, *others):
        fill(tmp_path / name)
    files.remove_leftovers(tmp_path, files.FORGOTTEN)
    assert (tmp_path / ours).exists()
    hours_ago = time.time() - 2 * files.FORGOTTEN
    for name in (ours, *others):
        os.utime(tmp_path / name, (hours_ago, hours_ago))
    folders.write_whole(tmp_path / "next", fill)
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "next"])
