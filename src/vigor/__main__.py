"""`python -m vigor`: the command line."""

from vigor.cli import main

main()
