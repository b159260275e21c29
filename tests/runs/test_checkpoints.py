"""Checkpoints and networks come back as they were, and files that are damaged or of another run are refused."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import assert_same
from vigor.basics.errors import UserError
from vigor.runs import checkpoints


class State(NamedTuple):
    """A state like those of the methods."""

    iteration: Any
    layers: Any
    best_loss: Any


def some_states(iteration: int = 10, width: int = 3) -> State:
    layers = [{"weight": jnp.arange(2.0 * width).reshape(1, 2, width)}, {"weight": jnp.ones((1, width))}]
    return State(jnp.full(1, iteration, jnp.int32), layers, jnp.full(1, jnp.inf))


def test_states_come_back_with_their_seconds(tmp_path):
    checkpoints.save(tmp_path, some_states(), 1.25)
    empty = jax.tree.map(jnp.zeros_like, some_states())
    states, seconds = checkpoints.load(tmp_path, empty)
    assert_same(states, some_states())
    assert seconds == 1.25
    assert jax.tree.map(lambda leaf: leaf.dtype, states) == jax.tree.map(lambda leaf: leaf.dtype, some_states())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.safetensors", "state.json"]


def test_without_a_checkpoint_a_run_begins(tmp_path):
    given = some_states()
    states, seconds = checkpoints.load(tmp_path, given)
    assert states is given
    assert seconds == 0


def test_a_checkpoint_of_other_settings_or_without_numbers_is_refused(tmp_path):
    checkpoints.save(tmp_path, some_states(), 1.0)
    with pytest.raises(UserError, match="does not fit this run's settings; delete it to start this run again"):
        checkpoints.load(tmp_path, some_states(width=4))
    with pytest.raises(UserError, match="does not fit this run's settings"):
        checkpoints.load(tmp_path, some_states().layers)
    checkpoints.save(tmp_path, some_states()._replace(best_loss=jnp.full(1, jnp.nan)), 1.0)
    with pytest.raises(UserError, match="does not fit this run's settings"):
        checkpoints.load(tmp_path, some_states())


def test_a_damaged_checkpoint_is_one_sentence(tmp_path):
    checkpoints.save(tmp_path, some_states(), 1.0)
    path = tmp_path / checkpoints.CHECKPOINT
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(UserError, match=r"checkpoint\.safetensors is damaged: .*; delete it"):
        checkpoints.load(tmp_path, some_states())


# Networks of all iterations ------------------------------------------------------------------------------------------


def networks(first: int, count: int) -> dict[str, Any]:
    """Networks [iteration, network, ...]; every number is that of the iteration."""
    numbers = np.arange(first, first + count, dtype=np.float16)[:, None, None]
    return {"layers": [np.broadcast_to(numbers, (count, 2, 3)), np.broadcast_to(numbers, (count, 2, 1))]}


LIKE = {"layers": [np.zeros(3), np.zeros(1)]}


def test_networks_are_kept_in_parts_and_put_into_one_file(tmp_path):
    checkpoints.keep_networks(tmp_path, 10, [networks(i, 1) for i in range(10)])
    checkpoints.keep_networks(tmp_path, 12, [networks(10, 2)])
    assert [part.stem for part in checkpoints.network_parts(tmp_path)] == ["000010", "000012"]
    checkpoints.merge_networks(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [checkpoints.ENSEMBLES]
    loaded = checkpoints.load_networks(tmp_path, LIKE)
    assert_same(loaded, networks(0, 12))


def test_networks_of_iterations_that_are_made_again_are_forgotten(tmp_path):
    for done in (10, 20):
        checkpoints.keep_networks(tmp_path, done, [networks(done - 10, 10)])
    checkpoints.forget_networks_after(tmp_path, 10)
    assert [part.stem for part in checkpoints.network_parts(tmp_path)] == ["000010"]


def test_parts_of_a_killed_process_do_no_harm(tmp_path):
    parts = tmp_path / checkpoints.PARTS
    checkpoints.keep_networks(tmp_path, 20, [networks(0, 20)])
    (parts / ".000010.safetensors.abc.safetensors").write_bytes(b"half")
    assert [part.name for part in checkpoints.network_parts(tmp_path)] == ["000020.safetensors"]
    # Killed while the parts were being removed: what is in one file already stays.
    (tmp_path / checkpoints.ENSEMBLES).write_bytes(b"everything")
    checkpoints.merge_networks(tmp_path)
    assert (tmp_path / checkpoints.ENSEMBLES).read_bytes() == b"everything"
    assert not parts.exists()


def test_a_run_without_networks_has_no_file_of_them(tmp_path):
    checkpoints.merge_networks(tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(UserError, match="only a finished run of the method vigor has it"):
        checkpoints.load_networks(tmp_path, LIKE)


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (networks(0, 0), "does not fit"),
        ({"layers": networks(0, 2)["layers"][:1]}, "does not fit"),
        ({"layers": [networks(0, 2)["layers"][0], networks(0, 3)["layers"][1]]}, "does not fit"),
        ({"layers": [array[:, :, :1] for array in networks(0, 2)["layers"]]}, "does not fit"),
        (jax.tree.map(lambda array: array * np.float16(np.nan), networks(0, 2)), "not finite"),
    ],
    ids=["none", "a layer is missing", "other counts", "other shapes", "no numbers"],
)
def test_networks_that_do_not_fit_are_one_sentence(tmp_path, stored, said):
    checkpoints.keep_networks(tmp_path, 2, [stored])
    checkpoints.merge_networks(tmp_path)
    with pytest.raises(UserError, match=said):
        checkpoints.load_networks(tmp_path, LIKE)


def test_damaged_networks_are_one_sentence(tmp_path):
    checkpoints.keep_networks(tmp_path, 2, [networks(0, 2)])
    part = checkpoints.network_parts(tmp_path)[0]
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(UserError, match="ensembles is damaged"):
        checkpoints.merge_networks(tmp_path)
    (tmp_path / checkpoints.ENSEMBLES).write_bytes(b"half")
    with pytest.raises(UserError, match=r"ensembles\.safetensors is damaged"):
        checkpoints.load_networks(tmp_path, LIKE)
