"""`python -m vigor`: the command line."""

import os
import sys

# Python would look for packages in the working folder first, which may be anybody's.
if sys.path and sys.path[0] == os.getcwd():
    del sys.path[0]

from vigor.cli.main import main

main()
