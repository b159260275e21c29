"""What goes wrong because of what came in, said in one sentence."""


class UserError(ValueError):
    """Bad input: the message names the thing and the remedy. The command line prints it and exits with code 2."""
