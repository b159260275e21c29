"""`vigor studio`: what it is refused for before it starts."""

import socket

from helpers import refused


def test_a_second_studio_on_the_same_port_is_refused(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(capsys, "studio", "planar-reacher", "--port", port)
    assert f"port {port} is taken" in said
    assert "--port" in said
    assert not list(tmp_path.iterdir())


def test_bad_input_is_one_sentence_and_writes_nothing(tmp_path, capsys):
    assert "there is no task" in refused(capsys, "studio", "planar", "--port", 0)
    assert "does not exist" in refused(capsys, "studio", "planar-reacher", "--port", 0, "--demos", "none")
    assert not list(tmp_path.iterdir())
