"""Locks between processes, which the system lifts however a process ends."""

from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout


def take(path: Path) -> FileLock | None:
    """Lock of a file that is there only for this; None while another process, or another caller, holds it."""
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock


def drop(lock: FileLock) -> None:
    """Lift a lock and remove its file."""
    # While it is held: who has opened it meanwhile finds that it has no name any more, and tries again. Windows does
    # not allow that; there filelock removes it afterwards.
    with suppress(OSError):
        Path(lock.lock_file).unlink()
    lock.release()


def held(path: Path) -> bool:
    """Whether a process holds the lock of a file."""
    if not path.exists():
        return False
    lock = take(path)
    if lock is None:
        return True
    drop(lock)
    return False
