"""The studio in the hands of those who mean no good, and then of one who has never seen it."""

import re
import shutil
import time
import urllib.error
import urllib.request
from pathlib import Path

import msgspec
import numpy as np
import pytest
import viser
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import fast_tasks
from studio_page import CHROMIUM, Hand, chromium, opened, studio
from studio_runs import FAST, program
from vigor.studio import guard
from vigor.tasks.stage import load_stage

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="there is no chromium"),
]

SHORT = program("recorder.LONGEST = 4.0")
"""Program whose recordings are short."""


@pytest.fixture(scope="module")
def browser():
    with chromium(seldom=True, coarse=True) as opened_browser:
        yield opened_browser


CAMERA = msgspec.msgpack.encode(
    {
        "type": "ViewerCameraMessage",
        "wxyz": [1.0, 0.0, 0.0, 0.0],
        "position": [0.0, 0.0, 10.0],
        "fov": 0.8,
        "near": 0.1,
        "far": 100.0,
        "image_height": 100,
        "image_width": 100,
        "look_at": [0.0, 0.0, 0.0],
        "up_direction": [0.0, 1.0, 0.0],
    }
)
"""Message with which viser takes a connection for a page, whose messages count."""
JUNK = [
    b"",
    b"\x00" * 1000,
    b"\xc1\xff not msgpack",
    msgspec.msgpack.encode({}),
    msgspec.msgpack.encode({"type": "NoSuchMessage"}),
    msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "../../etc/passwd", "updates": {"value": "../../x"}}),
    msgspec.msgpack.encode(
        {
            "type": "FileTransferStartUpload",
            "source_component_uuid": "x",
            "transfer_uuid": "y",
            "filename": "../../../tmp/vigor-evil",
            "mime_type": "x",
            "part_count": 0,
            "size_bytes": 0,
        }
    ),
    msgspec.msgpack.encode({"type": "ShareUrlRequest"}),
    *(
        msgspec.msgpack.encode(
            {
                "type": "SceneNodeDragMessage",
                "phase": phase,
                "name": name,
                "instance_index": None,
                "start_position": [0.0, 0.0, 0.0],
                "start_screen_pos": [0.5, 0.5],
                "end_position": value,
                "end_screen_pos": [0.5, 0.5],
                "button": "left",
                "modifier": None,
                "owner": "",
            }
        )
        for name in ("/marks/0", "/robot/joint5", "/../../x")
        for phase, value in (
            ("start", [1e308] * 3),
            ("update", [float("nan")] * 3),
            ("update", ["a", None, {}]),
            ("end", []),
        )
    ),
]


def test_junk_and_strangers_change_nothing(browser, tmp_path):
    folder = tmp_path / "studio"
    with studio(f"{FAST}:PLANAR", folder, "--host", "0.0.0.0", program=SHORT) as (printed, process):
        address, token = printed.replace("0.0.0.0", "127.0.0.1").split("/?token=")
        protocol = f"viser-v{viser.__version__}"
        with pytest.raises(urllib.error.HTTPError, match="403") as refused, urllib.request.urlopen(address):
            pass
        refused.value.close()
        web = address.replace("http", "ws")
        with pytest.raises(InvalidStatus, match="403"), connect(web, subprotocols=[protocol]):
            pass
        with urllib.request.urlopen(f"{address}/?token={token}") as answer:
            cookie = answer.headers["Set-Cookie"].partition(";")[0]
            assert {name: answer.headers[name] for name in guard.HEADERS} == guard.HEADERS
        assert cookie.startswith("vigor_studio_")
        assert cookie.endswith(f"={token}")
        before = sorted(tmp_path.rglob("*"))
        for message in JUNK:
            with connect(web, subprotocols=[protocol], additional_headers={"Cookie": cookie}, max_size=None) as socket:
                try:
                    socket.send(CAMERA)
                    socket.send(message)
                    time.sleep(0.1)  # A page that is gone is not listened to.
                    socket.recv(timeout=5)
                except ConnectionClosed:
                    pass
        assert process.poll() is None
        assert sorted(tmp_path.rglob("*")) == before
        assert not Path("/tmp/vigor-evil").exists()
        with opened(browser, f"{address}/?token={token}") as page:
            check_first_steps(Hand(page, load_stage(fast_tasks.PLANAR).view))
    shutil.rmtree(folder, ignore_errors=True)


def check_first_steps(hand: Hand) -> None:
    """A recording says that it will end by itself; where nothing was shown, it learns from the task's own."""
    hand.press("Again")  # Junk has grabbed the robot, and dragged a target away.
    hand.press("New context")
    hand.says("Drag the orange ball")
    tip = np.array([5.0, 0.0, 0.0])
    hand.take([tip, tip - np.array([0.5, 0.3, 0.0])], 0.5)
    hand.says(re.compile(r"recording \d s, ends by itself at 4 s"))
    hand.says("A movement takes 4 s at most: save this one or drop it.")
    hand.page.mouse.up()
    hand.press("Again")
    hand.tab("Learn")
    hand.press("Learn")
    hand.says("preparing demonstrations: ")
