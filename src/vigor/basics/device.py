"""Devices that programs compute on, and the cache of what they have compiled."""

from pathlib import Path
from typing import Literal

from vigor.basics import folders
from vigor.basics.errors import UserError

Device = Literal["auto", "cpu", "gpu"]


def use_device(device: Device) -> None:
    """Compute on a device from now on; auto takes a GPU if there is one. Compiled programs are kept for later."""
    import jax

    jax.config.update("jax_compilation_cache_dir", str(_cache()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    if device != "auto":
        jax.config.update("jax_platforms", {"cpu": "cpu", "gpu": "cuda,cpu"}[device])
    try:
        jax.devices()
    except (RuntimeError, AssertionError):  # The latter where JAX has no program for the device at all.
        if device == "auto":
            raise UserError("JAX can use nothing that JAX_PLATFORMS names; unset it, or choose --device cpu") from None
        raise UserError(f"there is no {device} that JAX can use here; choose another --device") from None


def _cache() -> Path:
    """Folder of compiled programs."""
    return folders.of_user("XDG_CACHE_HOME", ".cache") / "vigor" / "compiled"


DAMAGED_ENTRY = "Error reading persistent compilation cache entry for '"
"""Beginning of JAX's warning of an entry that cannot be read, which the name of its program follows."""


def mend_cache(warning: str) -> bool:
    """Remove what a warning of JAX's cache is about; whether it is about that.

    A process that was killed leaves half an entry, which JAX compiles again but never replaces.
    """
    name, quote, _ = warning.removeprefix(DAMAGED_ENTRY).partition("'")
    if not warning.startswith(DAMAGED_ENTRY) or not quote:
        return False
    for entry in _cache().iterdir():
        if entry.name.startswith(f"{name}-") and entry.is_file():
            entry.unlink(missing_ok=True)
    return True
