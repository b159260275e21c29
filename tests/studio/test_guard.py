"""The guard: who is let in."""

import socket

import pytest

from vigor.basics.errors import UserError
from vigor.studio import guard


def test_a_page_from_elsewhere_is_refused():
    local = guard.Guard(None)
    assert local.refuses("/", {"Host": "127.0.0.1:8080"}) is None
    assert local.refuses("/", {"Host": "localhost:8080", "Origin": "http://localhost:8080"}) is None
    assert local.refuses("/", {"Host": "[::1]:8080"}) is None
    assert local.refuses("/", {"Host": "127.0.0.1:8080", "Origin": "http://evil.example"})
    assert local.refuses("/", {"Host": "127.0.0.1:8080", "Origin": "null"})
    assert local.refuses("/", {"Host": "evil.example:8080"})
    assert local.refuses("/", {})


def test_a_network_needs_the_token():
    assert guard.guard_for("127.0.0.1").token is None
    open_ = guard.guard_for("0.0.0.0")
    host = {"Host": "10.0.0.5:8080"}
    assert open_.refuses("/", host)
    assert open_.refuses("/?token=", host)
    assert open_.refuses("/?token=wrong", host | {"Cookie": f"{guard.COOKIE}=wrong; ]["})
    assert open_.refuses(f"/?token={open_.token}", host) is None
    assert open_.refuses("/", host | {"Cookie": f"{guard.COOKIE}={open_.token}"}) is None
    assert open_.refuses("/", host | {"Cookie": f"{guard.COOKIE}={open_.token}", "Origin": "http://evil.example"})
    assert open_.refuses("/?token=ä", host)


def test_a_port_that_is_taken_or_impossible_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} is taken.*--port {port + 1}"):
            guard.bind("127.0.0.1", port)
    with pytest.raises(UserError, match="from 0 to 65535"):
        guard.bind("127.0.0.1", 10**6)
    with pytest.raises(UserError, match="cannot be listened on"):
        guard.bind("no.such.host.invalid", 8080)
