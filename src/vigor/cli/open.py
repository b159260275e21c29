"""`vigor open`."""

import webbrowser
from dataclasses import dataclass

from tyro.conf import Positional

from vigor.basics.errors import UserError
from vigor.cli.arguments import RunFolder


@dataclass(frozen=True)
class Open:
    """Open the report of a run or a benchmark in the browser."""

    run: Positional[RunFolder]
    """Folder of the run or the benchmark."""

    def __call__(self, words: list[str]) -> int:
        path = self.run / "report.html"
        if not path.is_file():
            raise UserError(f"{path} does not exist; write it with: vigor report {self.run}")
        if not webbrowser.open(path.resolve().as_uri()):
            print("No browser was found here; open this file in one:")
        print(path)
        return 0
