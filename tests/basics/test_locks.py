"""A lock has one holder at a time and leaves nothing; that a killed process leaves none is seen with a benchmark's."""

from vigor.basics import locks


def test_a_lock_is_taken_once_until_it_is_dropped(tmp_path):
    path = tmp_path / "folder" / "lock"
    lock = locks.take(path)
    assert lock is not None
    assert locks.take(path) is None
    assert path.exists()
    locks.drop(lock)
    assert not path.exists()
    again = locks.take(path)
    assert again is not None
    locks.drop(again)


def test_a_file_that_a_killed_process_left_is_no_lock(tmp_path):
    path = tmp_path / "lock"
    path.touch()
    lock = locks.take(path)
    assert lock is not None
    locks.drop(lock)
    assert not path.exists()
