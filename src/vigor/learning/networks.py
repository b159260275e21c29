"""Small sequence networks: a logit for every step of a sequence of descriptors.

Functions take one network; `jax.vmap` lifts them over an ensemble and over runs. A network with settings
`Architecture` is a tree of arrays, its parameters. Every step's descriptors come with its phase.

Inside, sequences are [T / block, N, block * channels]: time first, so that a shift in time is a shift of whole blocks
of memory, and `block` steps side by side. A convolution is then one product of windows of neighbouring blocks with a
banded matrix. Blocks of several steps multiply more zeros and copy less: right for a GPU, which computes faster than it
copies; a CPU takes single steps.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray, UInt8

from vigor.basics.errors import UserError, check_choices

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Architecture:
    """Architecture of a network."""

    network: Literal["cnn", "mlp", "lstm"] = "cnn"
    """1d-CNN, MLP shared by all steps, or LSTM. All see the phase of each step beside its descriptors."""
    layers: int = 2
    """Hidden layers."""
    width: int = 32
    """Channels, neurons or LSTM units per hidden layer."""
    kernel: int = 5
    """Steps a convolution sees (cnn only, odd)."""
    dropout: float = 0.2
    """Probability of dropping a unit after each hidden layer while training."""
    batch_norm: bool = False
    """Normalise every hidden layer over batch and steps."""

    def __post_init__(self) -> None:
        check_choices(self)
        if self.layers < 1 or self.width < 1:
            raise UserError("layers and width must be at least 1")
        if max(self.layers, self.width, self.kernel) > 10**4:
            raise UserError("layers, width and kernel must be at most 10,000")
        if self.kernel < 1 or self.kernel % 2 == 0:
            raise UserError(f"kernel must be odd and positive, not {self.kernel}")
        if not 0 <= self.dropout <= 0.9:
            raise UserError("dropout must be from 0 to .9")

    @property
    def window(self) -> int:
        """Steps that a layer sees at once."""
        return self.kernel if self.network == "cnn" else 1


def random_parameters(key: PRNGKeyArray, architecture: Architecture, features: int) -> Parameters:
    """Parameters of a network for `features` descriptors per step.

    They are drawn evenly from +-1/sqrt(inputs of the layer), those of LSTM layers from +-1/sqrt(width).
    """
    width, lstm = architecture.width, architecture.network == "lstm"
    inputs = features + 1
    shapes = []
    for _ in range(architecture.layers):
        shapes.append((inputs + width, 4 * width) if lstm else (architecture.window * inputs, width))
        inputs = width
    shapes.append((architecture.window * inputs, 1))
    # One draw for all layers: every call of a random function is compiled on its own.
    ends = np.cumsum([(inputs + 1) * outputs for inputs, outputs in shapes])
    drawn = jnp.split(jax.random.uniform(key, (ends[-1],), minval=-1.0, maxval=1.0), ends[:-1])
    *layers, output = (
        _layer(part, *shape, limit=1 / math.sqrt(width if lstm and shape[1] > 1 else shape[0]))
        for part, shape in zip(drawn, shapes, strict=True)
    )
    if architecture.batch_norm:
        zero, one = jnp.zeros(width), jnp.ones(width)
        fresh = {"scale": one, "shift": zero, "running_mean": zero, "running_variance": one}
        layers = [layer | fresh for layer in layers]
    return {"layers": layers, "output": output}


def _layer(drawn: Array, inputs: int, outputs: int, limit: float) -> Parameters:
    """Weights and biases from numbers [(inputs + 1) * outputs] in +-1."""
    weights = limit * jnp.reshape(drawn, (inputs + 1, outputs))
    return {"weight": weights[:-1], "bias": weights[-1]}


def logits(
    parameters: Parameters, architecture: Architecture, descriptors: Float[Array, "sample time feature"]
) -> Float[Array, "sample time"]:
    """Logit of every step; evaluation mode."""
    return forward(parameters, architecture, descriptors, None)[0]


def forward(
    parameters: Parameters,
    architecture: Architecture,
    descriptors: Float[Array, "sample time feature"],
    dropout: tuple[PRNGKeyArray, UInt8[Array, " byte"]] | None,
) -> tuple[Float[Array, "sample time"], list[Parameters]]:
    """Logits of every step, and the layers with their running statistics updated.

    Training mode if a key and random bytes for dropout (see `noise`) are given.
    """
    samples, steps, inputs = descriptors.shape[0], descriptors.shape[1], descriptors.shape[2] + 1
    block = _block(architecture, steps)
    precision = hidden_precision(descriptors.dtype)
    phase = jnp.broadcast_to(jnp.linspace(0.0, 1.0, steps)[:, None, None], (steps, samples, 1))
    hidden = jnp.concatenate([jnp.swapaxes(descriptors, 0, 1), phase], axis=-1)
    hidden = hidden.reshape(-1, block, samples, inputs).swapaxes(1, 2).reshape(-1, samples, block * inputs)
    kept = None
    if dropout is not None and architecture.dropout > 0:
        kept = _kept(*dropout, architecture, hidden.shape[0] * samples * block * architecture.width)
    layers: list[Parameters] = []
    for layer in parameters["layers"]:
        if architecture.network == "lstm":
            hidden = _lstm(layer, hidden)
        else:
            hidden = _convolve(layer["weight"], hidden, architecture.window, block, precision)
            hidden = hidden + jnp.tile(layer["bias"], block)
        if architecture.network != "lstm":
            hidden = jax.nn.leaky_relu(hidden)
        if architecture.batch_norm:  # After the activation, as the authors have it.
            hidden, layer = _normalise(layer, hidden, block, training=dropout is not None)
        if kept is not None:
            hidden = jnp.where(kept[len(layers)].reshape(hidden.shape), hidden / _share_kept(architecture), 0.0)
        hidden = hidden.astype(precision)
        layers.append(layer)
    output = parameters["output"]
    found = _convolve(output["weight"], hidden, architecture.window, block, descriptors.dtype)
    found = found + output["bias"]
    return found.swapaxes(1, 2).reshape(steps, samples).T, layers


def hidden_precision(descriptors: Any) -> Any:
    """Precision of hidden units, given that of descriptors: theirs on a CPU, half on a GPU."""
    return descriptors if jax.default_backend() == "cpu" else jnp.bfloat16


def _block(architecture: Architecture, steps: int) -> int:
    """Steps side by side: on a GPU the largest divisor of the steps up to 8."""
    if architecture.network != "cnn" or jax.default_backend() == "cpu":
        return 1
    return max(block for block in range(1, 9) if steps % block == 0)


@partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def _convolve(weight: Array, hidden: Array, window: int, block: int, precision: Any) -> Array:
    """Convolution over time with zero padding, [T / block, N, block * in] to [T / block, N, block * out].

    weight: [window * in, out]. XLA's own convolution is many times slower, and so is the gradient that it derives for
    the unfolding; the gradient by the input is written as what it is, a convolution with the kernel turned.
    """
    return _convolve_forward(weight, hidden, window, block, precision)[0]


def _convolve_forward(
    weight: Array, hidden: Array, window: int, block: int, precision: Any
) -> tuple[Array, tuple[Array, Array]]:
    windows = _unfold(hidden, window, block)
    return _multiply(windows, _band(weight, window, block), precision), (weight, windows)


def _convolve_backward(
    window: int, block: int, precision: Any, residuals: tuple[Array, Array], slope: Array
) -> tuple[Array, Array]:
    weight, windows = residuals
    slope = slope.astype(windows.dtype)
    # The narrow factor first: a CPU then needs a third less time.
    by_band = jnp.einsum("tno,tni->oi", slope, windows, preferred_element_type=weight.dtype)
    by_weight = jax.linear_transpose(lambda weight: _band(weight, window, block), weight)(by_band.T)[0]
    turned = weight.reshape(window, -1, weight.shape[1])[::-1].swapaxes(1, 2).reshape(window * weight.shape[1], -1)
    return by_weight, _multiply(_unfold(slope, window, block), _band(turned, window, block), windows.dtype)


_convolve.defvjp(_convolve_forward, _convolve_backward)


def _multiply(windows: Array, band: Array, precision: Any) -> Array:
    return jnp.matmul(windows, band.astype(windows.dtype), preferred_element_type=precision)


def _unfold(hidden: Array, window: int, block: int) -> Array:
    """Windows [B, N, (block + window - 1) * in] around every block of [B, N, block * in]."""
    reach, channels, blocks = window // 2, hidden.shape[-1] // block, hidden.shape[0]
    away = -(-reach // block)
    padded = jnp.pad(hidden, ((away, away), (0, 0), (0, 0)))
    pieces = []
    for offset in range(-away, away + 1):
        first, last = max(0, -reach - offset * block), min(block, block + reach - offset * block)
        neighbour = padded[away + offset : away + offset + blocks]
        pieces.append(neighbour[..., first * channels : last * channels])
    return jnp.concatenate(pieces, axis=-1)


def _band(weight: Array, window: int, block: int) -> Array:
    """A banded matrix [(block + window - 1) * in, block * out] that convolves a whole block with [window * in, out]."""
    inputs = weight.shape[0] // window
    columns = [jnp.pad(weight, ((i * inputs, (block - 1 - i) * inputs), (0, 0))) for i in range(block)]
    return jnp.concatenate(columns, axis=1)


def _lstm(layer: Parameters, hidden: Array) -> Array:
    """Long short-term memory over time: [T, N, in] to [T, N, width]."""
    width = layer["weight"].shape[1] // 4
    inputs = hidden.shape[-1]
    incoming = hidden @ layer["weight"][:inputs] + layer["bias"]
    recurrent = layer["weight"][inputs:]

    def step(state: tuple[Array, Array], x: Array) -> tuple[tuple[Array, Array], Array]:
        output, cell = state
        gate_in, gate_forget, candidate, gate_out = jnp.split(x + output @ recurrent, 4, axis=-1)
        cell = jax.nn.sigmoid(gate_forget) * cell + jax.nn.sigmoid(gate_in) * jnp.tanh(candidate)
        output = jax.nn.sigmoid(gate_out) * jnp.tanh(cell)
        return (output, cell), output

    zero = jnp.zeros((hidden.shape[1], width), incoming.dtype)
    return jax.lax.scan(step, (zero, zero), incoming)[1]


def _normalise(layer: Parameters, hidden: Array, block: int, training: bool) -> tuple[Array, Parameters]:
    """Batch normalisation over batch and steps, with running statistics of momentum .1."""
    steps = hidden.reshape(*hidden.shape[:2], block, -1)
    if training:
        mean, variance = jnp.mean(steps, axis=(0, 1, 2)), jnp.var(steps, axis=(0, 1, 2))
        running = {
            "running_mean": 0.9 * layer["running_mean"] + 0.1 * jax.lax.stop_gradient(mean),
            "running_variance": 0.9 * layer["running_variance"] + 0.1 * jax.lax.stop_gradient(variance),
        }
    else:
        mean, variance = layer["running_mean"], layer["running_variance"]
        running = {}
    steps = (steps - mean) * jax.lax.rsqrt(variance + 1e-5) * layer["scale"] + layer["shift"]
    return steps.reshape(hidden.shape), layer | running


def noise(key: PRNGKeyArray, architecture: Architecture, samples: int, steps: int) -> UInt8[Array, " byte"]:
    """Random bytes for the dropout of batches of that many samples."""
    return jax.random.bits(key, (4 * samples * steps * architecture.width + 1,), jnp.uint8)


def _kept(
    key: PRNGKeyArray, noise: UInt8[Array, " byte"], architecture: Architecture, units: int
) -> list[Bool[Array, " unit"]]:
    """Units that each layer keeps.

    The bytes begin at a random place of the noise: drawing new ones for every step would cost as much as a layer.
    """
    places = jax.random.randint(key, (architecture.layers,), 0, noise.shape[0] - units)
    dropped = round(256 * (1 - _share_kept(architecture)))
    return [jax.lax.dynamic_slice(noise, (place,), (units,)) >= dropped for place in places]


def _share_kept(architecture: Architecture) -> float:
    """Share of units that dropout keeps: one random byte a unit, so a multiple of 1/256."""
    return 1 - max(1, round(256 * architecture.dropout)) / 256
