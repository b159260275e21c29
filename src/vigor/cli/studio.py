"""`vigor studio`."""

from dataclasses import dataclass

from tyro.conf import Positional

from vigor.basics.device import use_device
from vigor.cli.arguments import MaybeFolder, TaskName


@dataclass(frozen=True)
class Studio:
    """Record demonstrations in a browser, watch them being learned, drag targets and see plans."""

    task: Positional[TaskName]
    """planar-reacher, panda-reacher, box-pusher, path/to/scene.toml, or path/to/file.py:NAME."""
    out: MaybeFolder = None
    """Folder for demonstrations and runs; one that exists is continued. Default: studio/TASK."""
    demos: MaybeFolder = None
    """Folder with other demonstrations that can be learned from (see `vigor demos`)."""
    port: int = 8080
    """Port of the page's address."""
    host: str = "127.0.0.1"
    """Address to listen on. Any but a loopback address can be reached from the network; the printed token is needed."""

    def __call__(self, words: list[str]) -> int:
        from vigor.studio import app

        use_device("auto")
        app.serve(self.task, self.out, self.demos, self.host, self.port)
        return 0
