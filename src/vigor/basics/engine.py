"""MuJoCo, on machines with and without a display."""

import ctypes.util
import os
import sys

from vigor.basics.install import missing

if sys.platform == "linux" and not os.environ.get("DISPLAY") and "MUJOCO_GL" not in os.environ:
    # MuJoCo chooses how to render when it is imported.
    found = next((name for name in ("EGL", "OSMesa") if ctypes.util.find_library(name)), None)
    os.environ["MUJOCO_GL"] = found.lower() if found else "disable"

try:
    import mujoco
    import mujoco.rollout
except ImportError as error:
    raise missing(f"this needs MuJoCo ({error})", "sim") from None

__all__ = ["mujoco"]
