"""What a memory profile takes: predicted from its numbers, and measured on a node's heap.

Predictions come from `ledger_model` and count a 32-bit heap. What is measured comes from the program
`node_programs/budget_node.py`, which watches the heap while code, configuration and arrays arrive, and from a
run of the built-in example.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import example, firmware, frozen_model, ledger_model
from .engines import Engine
from .engines.unix import UnixEngine
from .errors import InputError
from .files import Recording, read_pair
from .flash.needs import code_bytes
from .node_run import prepare, run_node
from .profile import Profile, compile_config
from .task import Task

PROGRAM = "budget_node"
BITS = 32
# Modules that a program may load besides: a report as text, report lines, labels over the wire, saves.
EXTRAS = ("report", "line", "labels", "snapshot")
_MEASURING_HEAP = 1 << 20  # of the measuring program, which compiles sources too


@dataclass(frozen=True)
class Part:
    """Bytes of one part of the state, by the model and on the heap (None where nothing was measured)."""

    predicted: int
    measured: int | None = None


@dataclass(frozen=True)
class Code:
    """What one form of the code takes.

    Attributes
    ----------
    heap : int
        Objects, bytecode, names and constants.
    machine : int
        Machine code, which a board keeps in its heap and the unix builds do not.
    """

    heap: int
    machine: int

    @property
    def bytes(self) -> int:
        """All of it."""
        return self.heap + self.machine


@dataclass(frozen=True)
class Budget:
    """A profile's bytes.

    Attributes
    ----------
    profile : Profile
    labels : int
        Labels besides NULL that were reckoned with.
    parts : dict
        By name: the arrays of each part, `objects` around them, and the `config` that the node keeps.
    code : dict
        By form: `py` is compiled on the node, `mpy` holds machine code, `bytecode` none, `frozen` lies in the
        firmware. An estimate for `frozen`, and for all where no engine was asked.
    extras : dict
        What modules take that a program may load besides, as `mpy`.
    engine : str or None
        What measured, with its version.
    interpreter : int or None
        In use before anything of the node is there.
    read_out : int or None
        What `Node.raw()` takes in passing.
    high_water : int or None
        Most that was in use in a run of the built-in example, code, state and the program that feeds it.
    allocated : int or None
        Bytes that all updates of that run asked for.
    trouble : str or None
        Why the example could not be run in this heap.
    """

    profile: Profile
    labels: int
    parts: Mapping[str, Part]
    code: Mapping[str, Code]
    extras: Mapping[str, Code]
    engine: str | None = None
    interpreter: int | None = None
    read_out: int | None = None
    high_water: int | None = None
    allocated: int | None = None
    trouble: str | None = None

    @property
    def heap(self) -> int:
        """What the profile gives."""
        return self.profile.heap_bytes

    @property
    def state(self) -> Part:
        """Arrays, objects and configuration."""
        measured = [part.measured for part in self.parts.values()]
        total = None if None in measured else sum(size for size in measured if size is not None)
        return Part(sum(part.predicted for part in self.parts.values()), total)

    @property
    def left(self) -> int | None:
        """What is left for the user's program: the heap less MicroPython's own, code and state."""
        form = self.code.get(self.profile["code.form"])
        if form is None or self.interpreter is None or self.state.measured is None:
            return None
        return self.heap - self.interpreter - form.bytes - self.state.measured


def many_labels(profile: Profile, labels: int | None = None) -> Task:
    """Return the built-in example's clock with as many labels as asked for, by default the profile's most.

    Their names are of the usual length, and none that MicroPython holds already.
    """
    wanted = profile["capacity.labels"] if labels is None else labels
    if not 1 <= wanted <= profile["capacity.labels"]:
        raise InputError(
            f"{labels} labels were asked for (1 to {profile['capacity.labels']}, the profile's "
            "capacity.labels, were expected)"
        )
    return replace(_example().task, labels=("NULL", *(f"label{n}" for n in range(1, wanted + 1))))


def state_bytes(profile: Profile, task: Task) -> int:
    """Return what the state takes, by the model: arrays, objects and configuration."""
    return sum(part.predicted for part in _predicted(_config(profile, task)).values())


def predict(profile: Profile, labels: int | None = None) -> Budget:
    """Return what a profile takes by the model alone; no engine is asked, and all code is estimated."""
    config = _config(profile, many_labels(profile, labels))
    code = {name: _estimated(config, march) for name, march in (("mpy", "armv6m"), ("bytecode", None))}
    code["frozen"] = _frozen(config)
    return Budget(profile, len(config["labels"]) - 1, _predicted(config), code, {})


def measure(profile: Profile, engine: Engine, labels: int | None = None, *, run: bool = True) -> Budget:
    """Return what a profile takes by the model and on an engine's heap.

    Parameters
    ----------
    profile : Profile
    engine : Engine
        A 32-bit one, as the model's.
    labels : int, optional
        Labels besides NULL; by default the most that the profile takes.
    run : bool
        Whether the built-in example is run too, in the profile's heap.

    Raises
    ------
    InputError
        The engine has another word size, or `labels` does not fit the profile.
    """
    if engine.bits != BITS:
        raise InputError(
            f"{engine.name} is a {engine.bits}-bit MicroPython (a 32-bit one was expected)",
            remedy="Choose arm or a board",
        )
    task = many_labels(profile, labels)
    config = _config(profile, task)
    machine = _Machine(engine, config)
    told = _told(engine, config, firmware.build(engine.march))
    code = {
        "py": Code(_other_form(engine, config, "py"), machine.code()),
        "mpy": Code(_code_heap(told), machine.code()),
        "bytecode": Code(_other_form(engine, config, "bytecode"), 0),
        "frozen": _frozen(config),
    }
    measured: dict[str, int] = {}
    for name, size in told["parts"]:
        measured[name] = measured.get(name, 0) + size
    measured[ledger_model.OBJECTS] = told["state"] - sum(measured.values())
    measured[ledger_model.CONFIG] = told["config"]
    budget = Budget(
        profile=profile,
        labels=len(task.labels) - 1,
        parts={name: replace(part, measured=measured[name]) for name, part in _predicted(config).items()},
        code=code,
        extras={name: Code(size, machine.code(name)) for name, size in told["extras"].items()},
        engine=f"{engine.name}, MicroPython {engine.version}",
        interpreter=told["interpreter"],
        read_out=told["read_out"],
    )
    return _with_run(budget, task, engine) if run else budget


def _with_run(budget: Budget, task: Task, engine: Engine) -> Budget:
    """Add what the built-in example takes, run in the profile's heap."""
    form = budget.profile["code.form"]
    if form == "bytecode" and isinstance(engine, UnixEngine):
        engine = UnixEngine(engine.name, engine.command, engine.implementation, None)
        spared = 0
    else:
        # The engine holds the code as .mpy, and its machine code beside the heap: it gets as much less or
        # more of a heap as a board would have.
        spared = budget.code["mpy"].heap - budget.code[form].bytes
    recording = _example()
    more = recording.task.labels + task.labels[len(recording.task.labels) :]
    recording = replace(recording, task=replace(recording.task, labels=more))
    try:
        config, feed = prepare(recording, budget.profile, bytes(budget.profile["holdout.size"]))
        done = run_node(engine, config, feed, budget.heap + spared)
    except InputError as trouble:
        return replace(budget, trouble=str(trouble))
    return replace(
        budget,
        high_water=done.memory.high_water - spared,
        allocated=done.memory.allocated_by_updates,
    )


class _Machine:
    """Machine code that a board keeps in its heap and the unix builds do not."""

    def __init__(self, engine: Engine, config: Mapping[str, Any]) -> None:
        self._outside = isinstance(engine, UnixEngine)
        self._built = firmware.build(engine.march)
        self._modules = firmware.estimator_modules(config)

    def code(self, extra: str | None = None) -> int:
        """Bytes of the node's code, or of what one more module adds to it."""
        if not self._outside:
            return 0
        files = firmware.loaded_files(self._modules)
        if extra is not None:
            more = firmware.loaded_files([*self._modules, extra])
            files = [name for name in more if name not in files]
        return sum(
            firmware.machine_code_bytes(self._built[name.removesuffix(".py") + ".mpy"]) for name in files
        )


def _told(engine: Engine, config: Mapping[str, Any], package: Mapping[str, bytes]) -> dict[str, Any]:
    """Return what the measuring program says, with the node's package in the given form."""
    path = Path(__file__).with_name("node_programs") / f"{PROGRAM}.py"
    plan = {"modules": firmware.estimator_modules(config), "extras": list(EXTRAS)}
    files = {
        **package,
        f"{PROGRAM}.mpy": firmware.compile_source(path.name, path.read_text(encoding="utf-8"), None),
        "config.json": json.dumps(config).encode(),
        "plan.json": json.dumps(plan).encode(),
    }
    script = (
        "import gc\ngc.collect()\n_interpreter = gc.mem_alloc()\n"
        f"import {PROGRAM}\n{PROGRAM}.run(_interpreter)\n"
    )
    output = engine.run(script, files, heap_bytes=_MEASURING_HEAP)
    told: dict[str, Any] = json.loads(output.stdout.strip().splitlines()[-1])
    return told


def _code_heap(told: Mapping[str, Any]) -> int:
    return int(told["core"] + sum(told["further"].values()))


_other_forms: dict[tuple[str, str, tuple[str, ...]], int] = {}


def _other_form(engine: Engine, config: Mapping[str, Any], form: str) -> int:
    """Return what the code takes as `py` or `bytecode`: measured once for the same modules."""
    key = (engine.name, form, tuple(firmware.estimator_modules(config)))
    if key not in _other_forms:
        package = firmware.build(None)
        if form == "py":
            package = {name: text.encode() for name, text in firmware.sources().items()}
        _other_forms[key] = _code_heap(_told(engine, config, package))
    return _other_forms[key]


@functools.cache
def _example() -> Recording:
    truth, prediction, options = example.builtin()
    return read_pair(truth, prediction, options)


def _config(profile: Profile, task: Task) -> dict[str, Any]:
    return compile_config(profile, task, holdout=bytes(profile["holdout.size"]))


@functools.cache
def _names(modules: tuple[str, ...]) -> frozenset[str]:
    """Return the texts that MicroPython holds as names once the node and further modules are imported."""
    files = firmware.loaded_files(modules)
    names = {Path(name).stem for name in files}
    for name, compiled in firmware.build("armv6m").items():
        if name.removesuffix(".mpy") + ".py" in files:
            names |= firmware.names_in(compiled)
    return frozenset(names)


def _predicted(config: Mapping[str, Any]) -> dict[str, Part]:
    names = _names(tuple(firmware.estimator_modules(config)))
    found = {name: Part(size) for name, size in ledger_model.parts(config).items()}
    found[ledger_model.OBJECTS] = Part(ledger_model.objects_bytes(config))
    found[ledger_model.CONFIG] = Part(ledger_model.config_bytes(config, names.__contains__))
    return found


def _estimated(config: Mapping[str, Any], march: str | None) -> Code:
    files = firmware.loaded_files(firmware.estimator_modules(config))
    built = firmware.build(march)
    loaded = {name: built[name.removesuffix(".py") + ".mpy"] for name in files}
    machine = sum(map(firmware.machine_code_bytes, loaded.values()))
    return Code(code_bytes(loaded, BITS) - machine, machine)


def _frozen(config: Mapping[str, Any]) -> Code:
    texts = firmware.sources()
    files = firmware.loaded_files(firmware.estimator_modules(config))
    return Code(sum(frozen_model.shape_of(texts[name]).bytes for name in files), 0)
