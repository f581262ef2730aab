"""Options from a file: `manyview.toml`, or `[tool.manyview]` in `pyproject.toml`.

    data-dir = "data"                # of every verb that has the option

    [fit]
    method = "mgcn-dns"
    param = { hidden = 32 }          # or ["hidden=32"]

    [bench.run]
    jobs = 2

The file is searched in the current folder and its parents, up to the first that has one of
`manyview.toml`, `pyproject.toml` and `.git`, or up to the home folder. The command line overrides
it. Relative paths start at the folder of the file.
"""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import typer

from manyview.errors import DataFileError, did_you_mean

FILE_NAME, PROJECT_NAME = "manyview.toml", "pyproject.toml"
ROOT_NAMES = (FILE_NAME, PROJECT_NAME, ".git")
PATHS = ("DIR", "FILE")  # metavars of options that name a file or a folder
NOT_PATHS = ("ignore",)  # files inside the folder of the data
NOT_SET = ("help", "version", "no_config", "install_completion", "show_completion", "verbose")
Values = dict[str, Any]


@dataclass(frozen=True)
class Config:
    """Options from a file, as defaults by verb; those of a group are nested."""

    file: Path | None = None
    defaults: Values = field(default_factory=dict)

    def with_verbose(self, command: Any) -> "Config":
        """Return the options with -v set for every verb that has it."""
        return replace(self, defaults=_verbose(command, self.defaults))

    def lines(self) -> Iterator[str]:
        """Describe where the options come from."""
        if self.file is None:
            yield "No configuration file was found."
            return
        yield f"Options are taken from {self.file}, unless the command line has them."


def read_config(command: Any, start: Path | None = None) -> Config:
    """Find the file of options and read it; refuse what no verb of the command has."""
    found = find_file(start or Path.cwd())
    if found is None:
        return Config()
    file, settings = found
    origin = str(file) if file.name == FILE_NAME else f"[tool.manyview] of {file}"
    return Config(file, _section(command, settings, origin, file.parent))


def find_file(start: Path) -> tuple[Path, Values] | None:
    """Return the nearest file with options and its content; None if there is none."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  # raises nothing without a home folder
    for folder in (start, *start.parents):
        file = folder / FILE_NAME
        if file.is_file():
            return file, _read(file)
        project = folder / PROJECT_NAME
        if project.is_file():
            tools = _read(project).get("tool", {})
            if isinstance(tools, dict) and "manyview" in tools:
                return project, _table(tools["manyview"], f"[tool.manyview] of {project}")
        if folder == home or any((folder / name).exists() for name in ROOT_NAMES):
            return None
    return None


def _read(file: Path) -> Values:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataFileError(f"{file} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataFileError(f"{file} is not TOML: {reason}.") from error


def _table(value: Any, what: str) -> Values:
    if not isinstance(value, dict):
        raise DataFileError(f"{what} must be a table of options; got {value!r}.")
    return value


def merge_named(context: typer.Context, param: typer.CallbackParam, value: Any) -> Any:
    """Add the NAME=VALUE settings of the file to those of the command line, which override them."""
    given = [] if value is None else list(value)
    names = {one.partition("=")[0].strip() for one in given}
    defaults = (context.default_map or {}).get(param.name or "") or []
    kept = [one for one in defaults if one.partition("=")[0].strip() not in names]
    return [*kept, *given] or None


def say_config(context: typer.Context, value: bool) -> bool:
    """Print which file options were taken from, if -v is given."""
    config = context.find_root().obj
    if value and isinstance(config, Config) and not context.resilient_parsing:
        for line in config.lines():
            typer.echo(line, err=True)
    return value


def origin_of(context: Any, param: Any, arguments: Sequence[str]) -> Path | None:
    """Return the file that a wrong option was read from; None if the command line has it."""
    config = None if context is None else context.find_root().obj
    is_typed = param is None or any(
        word == one or word.startswith(f"{one}=") for one in param.opts for word in arguments
    )
    if is_typed or not isinstance(config, Config):
        return None
    return config.file if param.name in (context.default_map or {}) else None


def _section(command: Any, settings: Mapping[str, Any], origin: str, home: Path) -> Values:
    """Return the options of a group's verbs: its own settings, overridden by those of a verb."""
    verbs: dict[str, Any] = command.commands
    common = {key: value for key, value in settings.items() if key not in verbs}
    for key in common:
        allowed = {name for verb in verbs.values() for name in _options(verb)}
        if _name(key) not in allowed:
            raise _unknown(key, [*verbs, *allowed], origin, "verb or option")
    defaults: Values = {}
    for name, verb in verbs.items():
        what = f"[{name}] of {origin}"
        own = _table(settings.get(name, {}), what)
        if hasattr(verb, "commands"):
            shared = {key: one for key, one in common.items() if _name(key) in _options(verb)}
            defaults[name] = _section(verb, {**shared, **own}, what, home)
            continue
        options = _options(verb)
        for key in own:
            if _name(key) not in options:
                raise _unknown(key, list(options), what, "option")
        defaults[name] = {
            options[_name(key)].name: _value(options[_name(key)], value, key, place, home)
            for settings, place in ((common, origin), (own, what))
            for key, value in settings.items()
            if _name(key) in options
        }
    return defaults


def _verbose(command: Any, defaults: Values) -> Values:
    inner = getattr(command, "commands", None)
    if inner is None:
        has_verbose = any(one.name == "verbose" for one in command.params)
        return {**defaults, "verbose": True} if has_verbose else defaults
    return {name: _verbose(verb, defaults.get(name, {})) for name, verb in inner.items()}


def _options(verb: Any) -> Values:
    """Return the options of a verb, or of all verbs of a group, by their names in Python."""
    if hasattr(verb, "commands"):
        return {
            name: one for inner in verb.commands.values() for name, one in _options(inner).items()
        }
    return {
        _option_name(one): one
        for one in verb.params
        if one.opts[0].startswith("-") and _option_name(one) not in NOT_SET
    }


def _option_name(option: Any) -> str:
    """Return the name of an option as users write it, such as `format` for --format."""
    return _name(max(option.opts, key=len).lstrip("-"))


def _name(key: str) -> str:
    return key.replace("-", "_")


def _unknown(key: str, allowed: list[str], origin: str, kind: str) -> DataFileError:
    names = sorted({name.replace("_", "-") for name in allowed})
    hint = did_you_mean(key.replace("_", "-"), names) or f" There are: {', '.join(names)}."
    return DataFileError(f"{origin} has {key!r}, which is no {kind}.{hint}")


def _value(option: Any, value: Any, key: str, origin: str, home: Path) -> Any:
    """Return a value as the command line would give it."""
    is_flag, is_repeated = bool(getattr(option, "is_flag", False)), bool(option.multiple)
    what = f"{key} of {origin}"
    if is_flag != isinstance(value, bool):
        wanted = "true or false" if is_flag else "a value, not true or false"
        raise DataFileError(f"{what} must be {wanted}; got {value!r}.")
    if isinstance(value, dict):
        if not (is_repeated and "=" in (option.metavar or "")):
            raise DataFileError(f"{what} must be one value, not a table; got {value!r}.")
        return [f"{name}={_toml(one)}" for name, one in value.items()]
    if isinstance(value, list) and not is_repeated:
        raise DataFileError(f"{what} must be one value, not a list; got {value!r}.")
    values = value if isinstance(value, list) else [value]
    if option.metavar in PATHS and _name(key) not in NOT_PATHS:
        values = [_from(home, one) if isinstance(one, str) else one for one in values]
    return [str(one) for one in values] if is_repeated else values[0]


def _from(home: Path, path: str) -> str:
    """Return a path of the file as seen from the current folder."""
    if path.startswith("~") or Path(path).is_absolute() or home == Path.cwd():
        return path
    return str(home / path)


def _toml(value: Any) -> str:
    """Write a value as it is typed after -p NAME=."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + "}"
    is_word = isinstance(value, str) and value.replace("-", "_").isidentifier()
    return (
        json.dumps(value, ensure_ascii=False)
        if isinstance(value, str) and not is_word
        else str(value)
    )
