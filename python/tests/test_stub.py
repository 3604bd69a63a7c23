"""The stub says of every public name what the compiled module says, so that editors show it.

``PRISMUX_BLESS=1 pytest tests/test_stub.py`` writes the docstrings anew.
"""

import ast
import inspect
import os
import textwrap
from collections.abc import Iterator
from pathlib import Path

from prismux import _core

STUB = Path(__file__).parents[1] / "prismux/_core.pyi"
#: Less the quotation marks.
WIDTH = 114

Documented = ast.ClassDef | ast.FunctionDef


def documented(tree: ast.Module) -> Iterator[tuple[Documented, object]]:
    """Classes, methods, properties and functions of the stub that the module has, with what they are there."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or not hasattr(_core, node.name):
            continue
        yield node, getattr(_core, node.name)
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("__"):
                yield member, getattr(getattr(_core, node.name), member.name)


def words(text: str | None) -> list[str]:
    return (text or "").split()


def with_docstrings(text: str) -> str:
    """The stub with the module's docstrings in place of its own."""
    lines = text.splitlines()
    # From the end, members before the class that they begin.
    nodes = sorted(documented(ast.parse(text)), key=lambda pair: (pair[0].body[0].lineno, pair[0].col_offset))
    for node, there in reversed(nodes):
        paragraphs = (inspect.getdoc(there) or "").split("\n\n")
        indent = " " * (node.col_offset + 4)
        wrapped = [
            textwrap.fill(" ".join(words(paragraph)), WIDTH, initial_indent=indent, subsequent_indent=indent)
            for paragraph in paragraphs
        ]
        docstring = "\n\n".join(wrapped).split("\n")
        docstring[0] = f'{indent}"""{docstring[0].strip()}'
        if len(docstring) > 1:
            docstring.append(f'{indent}"""')
        else:
            docstring[0] += '"""'
        first = node.body[0]
        if ast.get_docstring(node) is not None:
            lines[first.lineno - 1 : first.end_lineno] = docstring
        elif isinstance(node, ast.ClassDef) and first.lineno > node.lineno:
            start = first.lineno - 1 - len(getattr(first, "decorator_list", ()))
            lines[start:start] = docstring
        else:
            lines[first.lineno - 1 : first.end_lineno] = [lines[first.lineno - 1].removesuffix(" ..."), *docstring]
    return "\n".join(lines) + "\n"


def test_the_stub_has_the_docstrings_of_the_module() -> None:
    if os.environ.get("PRISMUX_BLESS"):
        STUB.write_text(with_docstrings(STUB.read_text()))
    missing = [
        node.name
        for node, there in documented(ast.parse(STUB.read_text()))
        if not words(inspect.getdoc(there)) or words(ast.get_docstring(node)) != words(inspect.getdoc(there))
    ]
    assert not missing, f"other words than in the module: {', '.join(missing)}"


def test_every_public_name_of_the_module_is_in_the_stub() -> None:
    names = {node.name for node, _ in documented(ast.parse(STUB.read_text()))}
    public = {name for name in _core.__all__ if inspect.isclass(getattr(_core, name)) or callable(getattr(_core, name))}
    assert public <= names, public - names
