"""Running docs/quickstart.ipynb with nothing but Python: ``python -m tests.notebook`` writes the outputs that are stored in it."""

import ast
import contextlib
import io
import json
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "docs/quickstart.ipynb"
DATASET = "dataset"  # the tag of cells that need the built dataset


def cells():
    """The code cells of the notebook, as they are stored."""
    return [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


def outputs(chosen, folder):
    """What cells put out, one after the other in one namespace and in ``folder``; a cell that raises ends it."""
    names = {}
    with contextlib.chdir(folder):
        return [_outputs("".join(cell["source"]), names) for cell in chosen]


def _outputs(source, names):
    tree, said, shown = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "cell", "exec"), names)
        if last:
            shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    put = [{"output_type": "stream", "name": "stdout", "text": _lines(said.getvalue())}] if said.getvalue() else []
    if shown is None:
        return put
    page = {"text/html": _lines(shown._repr_html_())} if hasattr(shown, "_repr_html_") else {}
    data = {**page, "text/plain": _lines(repr(shown))}
    return [*put, {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}]


def _lines(text):
    return text.splitlines(keepends=True)


def write():
    """Run all cells in the clone, with its dataset, and store what they put out."""
    os.environ.pop("CXGEN_PROJECT", None)
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell, put in zip(code, outputs(code, ROOT / "docs"), strict=True):
        cell["outputs"] = put
    NOTEBOOK.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    write()
