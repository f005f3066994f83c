"""What the recipes share: settings, models, where a run is kept."""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from cxgen.errors import CxgenError, DataError, needs
from cxgen.evaluation.model import model_files as folder_files
from cxgen.schema import read_yaml
from cxgen.tables import one_line, write_json

RUN = "run.json"
_NEED = "this recipe needs the packages torch, transformers, peft and scikit-learn"


def read_settings(path: Path, folder: Path, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run: those of the recipe's own `config.yaml`, those of ``path`` over them, and ``changes`` over these.

    Args:
        path: a YAML file with any of the recipe's keys.
        folder: the recipe's, with `config.yaml` and `config.schema.json`.
        changes: dotted key -> value; None: not given.

    Raises:
        SchemaError: unreadable, or a key or value that the recipe does not know: file:line.
        CxgenError: no model is named.
    """
    document = read_yaml(path, str(folder / "config.schema.json"))
    data = _over(deepcopy(read_yaml(folder / "config.yaml").data), document.data)
    for key, value in changes.items():
        if value is not None:
            *groups, name = key.split(".")
            place = data
            for group in groups:
                place = place[group]
            place[name] = value
    if not data["model"]:
        raise CxgenError("no model is named", hint="--model FOLDER, or `model:` in the config: a folder, or a name on the Hugging Face Hub")
    return data


def _over(below: dict[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings as one, group by group."""
    merged = dict(below)
    for key, value in above.items():
        merged[key] = _over(merged[key], value) if isinstance(value, dict) and isinstance(merged.get(key), dict) else value
    return merged


def is_local(model: str) -> bool:
    """Whether a model is a folder of this machine.

    Raises:
        DataError: it is meant to be one, and is not.
    """
    folder = Path(model)
    if folder.is_dir():
        return True
    if model.startswith((".", "/", "~")) or model.count("/") > 1 or folder.exists():
        raise DataError("no folder of a model", file=folder, hint="a folder with config.json, weights and tokenizer, or a name on the Hub")
    return False


def model_files(model: str) -> list[tuple[str, int, int]]:
    """A local model's files, see `cxgen.evaluation.model.model_files`; none of one on the Hub."""
    return folder_files(Path(model)) if is_local(model) else []


@contextmanager
def loading(model: str) -> Iterator[None]:
    """Tell in one line why transformers cannot load a model, or what is not installed."""
    with needs(_NEED, "recipes"):
        import torch  # noqa: F401
        import transformers

    transformers.logging.set_verbosity_error()
    if not sys.stderr.isatty():
        transformers.logging.disable_progress_bar()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")  # of what peft calls, for its authors
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        hint = "a folder with config.json, weights and tokenizer; nothing is downloaded where HF_HUB_OFFLINE=1"
        raise CxgenError(f"no model for this recipe at {model}: {one_line(error)}", hint=hint) from error


def require_same_run(output: Path, identity: Mapping[str, Any]) -> None:
    """See that a folder holds this run or none, and write down which.

    Raises:
        DataError: it holds another one.
    """
    path = output / RUN
    mine = json.loads(json.dumps(identity))
    if path.is_file():
        try:
            found = json.loads(path.read_text("utf-8"))
        except ValueError:
            found = None
        if found != mine and any(other != path for other in output.iterdir()):  # else it had not begun
            others = [key for key in mine if not isinstance(found, dict) or found.get(key) != mine[key]]
            hint = "another --output, or delete the folder"
            raise DataError(f"the folder holds another run: different {', '.join(others)}", file=path, hint=hint)
        if found == mine:
            return
    elif output.is_dir() and any(output.iterdir()):
        raise DataError("the folder is not empty, and holds no run of this recipe", file=output, hint="another --output")
    write_json(mine, path)


def model_name(model: str) -> str:
    """What a model's results are called."""
    last = model.rstrip("/").rpartition("/")[2]
    return "".join(letter if letter.isalnum() or letter in "._" else "-" for letter in last)


def digest(*values: object) -> str:
    """A short hash of values that JSON can write."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]
