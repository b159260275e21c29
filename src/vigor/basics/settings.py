"""Settings: frozen dataclasses, some within others, whose fields are known by their names alone."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

from vigor.basics.errors import UserError


def with_values(settings: Any, **values: Any) -> Any:
    """Settings with other values of some fields, wherever these are among the dataclasses within."""
    changed, unknown = _changed(settings, values)
    if unknown:
        raise UserError(f"{type(settings).__name__} has no setting {min(unknown)!r}")
    return changed


def _changed(settings: Any, values: dict[str, Any]) -> tuple[Any, set[str]]:
    """Changed settings, and the names that they do not have."""
    unknown, parts = set(values), {}
    for item in fields(settings):
        part = getattr(settings, item.name)
        if item.name in values:
            parts[item.name] = values[item.name]
            unknown.discard(item.name)
        elif is_dataclass(part):
            parts[item.name], missing = _changed(part, values)
            unknown &= missing
    return replace(settings, **parts), unknown


def value_of(settings: Any, name: str) -> Any:
    """Value of a field by its name, wherever it is; `settings` may also be what `dataclasses.asdict` made of them."""
    parts = settings if isinstance(settings, dict) else {f.name: getattr(settings, f.name) for f in fields(settings)}
    if name in parts:
        return parts[name]
    for part in parts.values():
        if isinstance(part, dict) or is_dataclass(part):
            try:
                return value_of(part, name)
            except KeyError:
                continue
    raise KeyError(name)
