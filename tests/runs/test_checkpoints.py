"""Checkpoints and networks come back as they were, and files that are damaged or of another run are refused."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy

from helpers import assert_same
from vigor.basics import contents
from vigor.basics.contents import Numbers
from vigor.basics.errors import OutOfRange, UserError
from vigor.runs import checkpoints


class State(NamedTuple):
    """A state like those of the methods."""

    iteration: Any
    layers: Any
    best_loss: Any


def some_states(iteration: int = 10, width: int = 3) -> State:
    layers = [{"weight": jnp.arange(2.0 * width).reshape(1, 2, width)}, {"weight": jnp.ones((1, width))}]
    return State(jnp.full(1, iteration, jnp.int32), layers, jnp.full(1, jnp.inf))


DESCRIBED = checkpoints.state_contents(some_states(), steps=10)


def save(folder: Path, states: State | None = None, described: Any = DESCRIBED) -> Path:
    checkpoints.save(folder, some_states() if states is None else states, described, 1.25)
    return folder / checkpoints.CHECKPOINT


def refused(folder: Path, described: Any = DESCRIBED) -> str:
    with pytest.raises(UserError, match=r"safetensors is damaged or of another run: .*; delete it") as error:
        checkpoints.load(folder, some_states(), described)
    return str(error.value)


def test_states_come_back_with_their_seconds(tmp_path):
    save(tmp_path)
    empty = jax.tree.map(jnp.zeros_like, some_states())
    states, seconds = checkpoints.load(tmp_path, empty, DESCRIBED)
    assert_same(states, some_states())
    assert seconds == 1.25
    assert jax.tree.map(lambda leaf: leaf.dtype, states) == jax.tree.map(lambda leaf: leaf.dtype, some_states())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.safetensors", "state.json"]


def test_without_a_checkpoint_a_run_begins(tmp_path):
    given = some_states()
    states, seconds = checkpoints.load(tmp_path, given, DESCRIBED)
    assert states is given
    assert seconds == 0


def test_a_checkpoint_of_other_settings_is_refused(tmp_path):
    save(tmp_path)
    said = refused(tmp_path, checkpoints.state_contents(some_states(width=4), steps=10))
    assert "['weight'] must be real numbers [1, 2, 4]" in said
    other = {name: value for name, value in DESCRIBED.items() if name != ".best_loss"}
    assert "unknown arrays: .best_loss" in refused(tmp_path, other)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_states_that_are_not_finite_are_neither_written_nor_read(tmp_path, number):
    diverged = some_states()._replace(layers=[{"weight": jnp.full((1, 2, 3), number)}, some_states().layers[1]])
    with pytest.raises(OutOfRange, match=r"\['weight'\] must be from"):
        save(tmp_path, diverged)
    assert not list(tmp_path.iterdir())
    path = save(tmp_path)
    arrays, metadata = contents.read_tensors(path)
    arrays[".layers[0]['weight']"][:] = number
    path.write_bytes(safetensors.numpy.save(arrays, metadata))
    assert "['weight'] must be from" in refused(tmp_path)


def lenient() -> dict[str, Numbers]:
    """The description without any bounds."""
    return {name: replace(meant, low=-np.inf, high=np.inf) for name, meant in DESCRIBED.items()}


def test_a_checkpoint_has_no_more_iterations_than_its_run(tmp_path):
    """One that said so was taken for finished."""
    save(tmp_path, some_states(iteration=10**9), lenient())
    assert ".iteration must be from 0 to 10" in refused(tmp_path)


@pytest.mark.parametrize("seconds", ["abc", "", "nan", "-1", "1_0", "1e99", "\uff11"])
def test_metadata_of_a_checkpoint_are_numbers(tmp_path, seconds):
    path = save(tmp_path)
    arrays, metadata = contents.read_tensors(path)
    contents.write_tensors(path, arrays, DESCRIBED, metadata | {"seconds": seconds})
    assert "its number of seconds is" in refused(tmp_path)


def test_a_damaged_checkpoint_is_one_sentence(tmp_path):
    path = save(tmp_path)
    path.write_bytes(path.read_bytes()[:-10])
    assert "it cannot be read" in refused(tmp_path)


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
        if done == 10:
            save(tmp_path)
    checkpoints.load(tmp_path, some_states(), DESCRIBED)
    assert [part.stem for part in checkpoints.network_parts(tmp_path)] == ["000010"]


def test_a_missing_part_is_noticed_when_a_run_goes_on_and_at_its_end(tmp_path):
    for done in (4, 8, 10):
        checkpoints.keep_networks(tmp_path, done, [networks(0, 4 if done < 10 else 2)])
    save(tmp_path)
    (tmp_path / checkpoints.PARTS / "000004.safetensors").unlink()
    (tmp_path / checkpoints.PARTS / "1abc.safetensors").write_bytes(b"")
    for use in (
        lambda: checkpoints.load(tmp_path, some_states(), DESCRIBED),
        lambda: checkpoints.merge_networks(tmp_path),
    ):
        with pytest.raises(UserError, match=r"networks before 000008\.safetensors are missing"):
            use()
    shutil.rmtree(tmp_path / checkpoints.PARTS)
    with pytest.raises(UserError, match="has networks of 0 iterations where its checkpoint has 10"):
        checkpoints.load(tmp_path, some_states(), DESCRIBED)


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


NOT_NUMBERS = jax.tree.map(lambda array: array * np.float16(np.nan), networks(0, 2))


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ({"layers": networks(0, 2)["layers"][:1]}, "it lacks"),
        ({"layers": [networks(0, 2)["layers"][0], networks(0, 3)["layers"][1]]}, "with 2 for iteration"),
        ({"layers": [array[:, :, :1] for array in networks(0, 2)["layers"]]}, "must be real numbers"),
        (NOT_NUMBERS, "must be from -65504 to 65504"),
    ],
    ids=["a layer is missing", "other counts", "other shapes", "no numbers"],
)
def test_networks_that_do_not_fit_are_one_sentence(tmp_path, stored, said):
    arrays = {f"['layers'][{i}]": np.array(array) for i, array in enumerate(stored["layers"])}
    (tmp_path / checkpoints.ENSEMBLES).write_bytes(safetensors.numpy.save(arrays))
    with pytest.raises(UserError, match=said):
        checkpoints.load_networks(tmp_path, LIKE)


@pytest.mark.parametrize("stored", [networks(0, 0), NOT_NUMBERS], ids=["none", "no numbers"])
def test_networks_that_are_none_are_not_written(tmp_path, stored):
    with pytest.raises(UserError, match=r"\['layers'\]\[0\] must be"):
        checkpoints.keep_networks(tmp_path, 2, [stored])
    assert not list(tmp_path.iterdir())


def test_damaged_networks_are_one_sentence(tmp_path):
    checkpoints.keep_networks(tmp_path, 2, [networks(0, 2)])
    part = checkpoints.network_parts(tmp_path)[0]
    whole = part.read_bytes()
    part.write_bytes(whole[:-1])
    with pytest.raises(UserError, match=r"000002\.safetensors is damaged"):
        checkpoints.merge_networks(tmp_path)
    part.write_bytes(whole[:-2] + b"\x00\x7e")  # The last number is none.
    with pytest.raises(UserError, match=r"ensembles is damaged: .* must be from -65504 to 65504"):
        checkpoints.merge_networks(tmp_path)
    (tmp_path / checkpoints.ENSEMBLES).write_bytes(b"half")
    with pytest.raises(UserError, match=r"ensembles\.safetensors is damaged"):
        checkpoints.load_networks(tmp_path, LIKE)
