"""Tables of the docs are those of stored rows."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "docs" / "tables.py"


def test_tables_are_true():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
