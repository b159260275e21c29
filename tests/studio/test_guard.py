"""The guard: who is let in."""

import socket

import pytest

from vigor.basics.errors import UserError
from vigor.studio import guard

TOKEN = {"Cookie": "vigor_studio=secret"}
LOCAL, OPEN = guard.Guard("secret", local=True), guard.Guard("secret", local=False)


def test_a_page_from_elsewhere_is_refused():
    assert LOCAL.refuses("/", TOKEN | {"Host": "127.0.0.1:8080"}) is None
    assert LOCAL.refuses("/", TOKEN | {"Host": "localhost:8080", "Origin": "http://localhost:8080"}) is None
    assert LOCAL.refuses("/", TOKEN | {"Host": "[::1]:8080"}) is None
    assert LOCAL.refuses("/", TOKEN | {"Host": "127.0.0.1:8080", "Origin": "http://evil.example"})
    assert LOCAL.refuses("/", TOKEN | {"Host": "127.0.0.1:8080", "Origin": "null"})
    assert LOCAL.refuses("/", TOKEN | {"Host": "evil.example:8080"})
    assert LOCAL.refuses("/", TOKEN)


@pytest.mark.parametrize("name", ["Host", "Origin", "Cookie"])
@pytest.mark.parametrize("value", ["[", "http://[", "[::1", "\udcff", "a" * 10**5, "//@:", "\x00"])
def test_malformed_headers_are_refused_and_no_error(name, value):
    headers = {"Host": "127.0.0.1:8080", name: value}
    assert LOCAL.refuses("/", headers)
    assert OPEN.refuses("/", headers)
    assert LOCAL.refuses("//[?token=secret", {"Host": "127.0.0.1:8080"}) == "this request is malformed"


@pytest.mark.parametrize("where", [("127.0.0.1", "127.0.0.1:8080"), ("0.0.0.0", "10.0.0.5:8080")])
def test_everybody_needs_the_token_also_on_this_machine(where):
    watchman, host = guard.guard_for(where[0], 8080), {"Host": where[1]}
    assert watchman.token != guard.guard_for(where[0], 8080).token
    assert watchman.refuses("/", host)
    assert watchman.refuses("/?token=", host)
    assert watchman.refuses("/?token=wrong", host | {"Cookie": f"{watchman.cookie}=wrong; ]["})
    assert watchman.refuses(f"/?token={watchman.token}", host) is None
    assert watchman.refuses("/", host | {"Cookie": f"{watchman.cookie}={watchman.token}"}) is None
    assert watchman.refuses("/", host | {"Cookie": f"vigor_studio_8081={watchman.token}"})
    assert watchman.refuses("/?token=ä", host)


def test_a_port_that_is_taken_or_impossible_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} is taken.*--port {port + 1}"):
            guard.bind("127.0.0.1", port)
    with pytest.raises(UserError, match="from 0 to 65535"):
        guard.bind("127.0.0.1", 10**6)
    with pytest.raises(UserError, match="cannot be listened on"):
        guard.bind("no.such.host.invalid", 8080)
