"""`python -m vigor`: the command line."""

from vigor.cli.main import main

main()
