"""Devices: one that is not there is one sentence."""

import subprocess
import sys

import jax
import pytest

from vigor.basics import device
from vigor.basics.errors import UserError


@pytest.mark.parametrize("error", [RuntimeError, AssertionError])
@pytest.mark.parametrize(("asked", "says"), [("gpu", "there is no gpu"), ("auto", "unset it")])
def test_a_device_that_is_not_there_is_refused(monkeypatch, error, asked, says):
    def devices():
        raise error

    monkeypatch.setattr(jax, "devices", devices)
    monkeypatch.setattr(jax.config, "update", lambda name, value: None)
    with pytest.raises(UserError, match=says):
        device.use_device(asked)


@pytest.mark.parametrize("given", ["", ".", "cache"])
def test_compiled_programs_are_not_looked_for_in_the_working_folder(given, tmp_path, monkeypatch):
    """They are programs of the machine, and what lies there may be anybody's."""
    known = {}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    monkeypatch.setattr(jax.config, "update", known.__setitem__)
    device.use_device("auto")
    assert known["jax_compilation_cache_dir"] == str(tmp_path / "home" / ".cache" / "vigor" / "compiled")


def test_what_jax_cannot_read_from_its_cache_is_removed_and_nothing_else(tmp_path, monkeypatch):
    """JAX itself warns of half an entry for ever: it never writes over one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "vigor" / "compiled"
    folder.mkdir(parents=True)
    for name in ("jit_f-12ab-cache", "jit_f-34cd-cache", "jit_fg-12ab-cache", "jit_g-12ab-cache"):
        (folder / name).write_bytes(b"half")
    assert not device.mend_cache("something else")
    assert device.mend_cache(f"{device.DAMAGED_ENTRY}jit_f': ZstdError: half")
    assert sorted(path.name for path in folder.iterdir()) == ["jit_fg-12ab-cache", "jit_g-12ab-cache"]


def test_jax_still_says_so_in_these_words(tmp_path):
    program = """
import jax, sys
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.jit(lambda x: x + 1)(1.0)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    subprocess.run(command, check=True)
    for entry in tmp_path.iterdir():
        entry.write_bytes(entry.read_bytes()[:20])
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    (line,) = [line for line in said.splitlines() if device.DAMAGED_ENTRY in line]
    name = line.partition(device.DAMAGED_ENTRY)[2].partition("'")[0]
    assert any(entry.name.startswith(f"{name}-") for entry in tmp_path.iterdir())
