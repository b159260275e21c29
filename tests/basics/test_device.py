"""Devices: one that is not there is one sentence."""

import jax
import pytest

from vigor.basics import device
from vigor.basics.errors import UserError


@pytest.mark.parametrize("error", [RuntimeError, AssertionError])
@pytest.mark.parametrize(("asked", "says"), [("gpu", "there is no gpu"), ("auto", "unset it")])
def test_a_device_that_is_not_there_is_refused(monkeypatch, error, asked, says):
    def devices():
        raise error

    monkeypatch.setattr(jax, "devices", devices)
    monkeypatch.setattr(jax.config, "update", lambda name, value: None)
    with pytest.raises(UserError, match=says):
        device.use_device(asked)
