"""Builds the documentation site from the project's pages, result files and docstrings. Needs no network.

    python docs/build.py --results results/claims.json --out results/site

Pages are those of docs/ and of the crates; figures are drawn and claims judged from the result files; the reference of
the Python package comes from its docstrings; the tutorial is executed.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import nbformat
from mkdocs.commands.build import build
from mkdocs.config import load_config
from nbclient import NotebookClient

import prismux
from prismux import policies, topologies
from prismux.figures import Report, ReportError, style
from prismux.figures.__main__ import draw, folders
from prismux.figures.claims import page

ROOT = Path(__file__).resolve().parents[1]
#: Pages that lie with their crates.
CRATES = {"linux.md": "daemons", "link.md": "network/link", "simulator.md": "network/simulator", "python.md": "python"}
#: How systems are called in headings.
TITLES = {
    "prism": "PRISM",
    "tcp-ho": "TCP-HO",
    "rcp": "RCP",
    "r2cp": "R²CP",
    "ptcp": "pTCP",
    "striping": "Application striping",
    "queueing": "Queueing models of striping",
    "tcp-door": "TCP-DOOR",
    "network-models": "Network models",
}
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def copy_page(source: Path, target: Path, moved: dict[Path, Path]) -> None:
    """Copies a page; links to files that are no pages of the site lose their target and keep their text."""

    def relink(match: re.Match[str]) -> str:
        link = match.group(2)
        if "://" in link:
            return match.group(0)
        goal = (source.parent / link).resolve()
        if goal in moved:
            steps = [".."] * (len(target.parts) - 1)
            return f"{match.group(1)}{'/'.join([*steps, *moved[goal].parts])}{match.group(3)}"
        return f"](https://github.com/prismux/prismux/blob/main/{goal.relative_to(ROOT)})"

    text = source.read_text(encoding="utf-8")
    (SITE / target).parent.mkdir(parents=True, exist_ok=True)
    (SITE / target).write_text(LINK.sub(relink, text), encoding="utf-8")


def pages() -> dict[Path, Path]:
    """Every page and picture with its place in the site."""
    moved = {}
    for path in sorted((ROOT / "docs").rglob("*")):
        place = path.relative_to(ROOT / "docs")
        if path.suffix in (".md", ".svg", ".png", ".css", ".js") and place != Path("README.md"):
            moved[path] = place
    for name, crate in CRATES.items():
        moved[ROOT / crate / "README.md"] = Path(name)
    for readme in sorted((ROOT / "reproduce").glob("*/*/README.md")):
        moved[readme] = Path("figures") / f"{readme.parent.name}.md"
    return moved


def figures(reports: dict[str, Report]) -> None:
    """Draws every figure and puts it at the head of its page."""
    lines = ["# Figures\n", "Published figures, drawn from runs of prismux.\n"]
    for system, report in reports.items():
        lines.append(f"## {TITLES.get(system, system)}\n")
        for folder in folders(ROOT / "reproduce"):
            if folder.parent.name == system:
                lines += figure(folder, report)
    (SITE / "figures/index.md").write_text("\n".join(lines), encoding="utf-8")


def figure(folder: Path, report: Report) -> list[str]:
    """Draws one figure; its lines of the page of all figures."""
    path = SITE / "figures" / f"{folder.name}.md"
    title, _, rest = path.read_text(encoding="utf-8").partition("\n")
    name = title.removeprefix("# ")
    try:
        style.save(draw(folder, report), str(SITE / "figures" / folder.name))
    except ReportError as error:
        print(f"{folder.name}: not drawn: {error}", file=sys.stderr)
        return []
    picture = f"![{name}]({folder.name}.svg)"
    path.write_text(f"{title}\n\n{picture}\n\n[As PDF]({folder.name}.pdf)\n{rest}", encoding="utf-8")
    return [f"### [{name}]({folder.name}.md)\n", f"[{picture}]({folder.name}.md)\n"]


def reference() -> None:
    """Writes the reference of the Python package: words from its docstrings, types from its stub."""
    lines = ["# Python API\n", f"{inspect.cleandoc(prismux.__doc__ or '').replace('::', ':')}\n"]
    stub = ast.parse((ROOT / "python/prismux/_core.pyi").read_text(encoding="utf-8"))
    typed = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    for name in prismux.__all__:
        if name != "__version__":
            lines += described(name, getattr(prismux, name), typed.get(name))
    lines.append("# Types of policies\n\nWhat the arguments above take, by the names that signatures give it.\n")
    lines.append(f"```python\n{policy_types(stub)}\n```\n")
    for module in (policies, topologies):
        lines.append(f"# {module.__name__}\n\n{inspect.cleandoc(module.__doc__ or '')}\n")
        typed = classes_of(module)
        for name in module.__all__:
            lines += described(name, getattr(module, name), typed.get(name))
    (SITE / "api.md").write_text("\n".join(lines), encoding="utf-8")


def classes_of(module: ModuleType) -> dict[str, ast.ClassDef]:
    """The classes that a module defines, as its source has them."""
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def described(name: str, thing: object, stub: ast.AST | None) -> list[str]:
    """One class or function: signature with types, what it is for, members in the order of the alphabet."""
    lines = [f"## {name}\n"]
    if isinstance(stub, ast.FunctionDef):
        lines.append(f"```python\n{signature(name, stub)}\n```\n")
    elif inspect.isfunction(thing):
        lines.append(f"```python\n{signature(name, ast.parse(inspect.getsource(thing)).body[0])}\n```\n")
    lines.append(f"{inspect.getdoc(thing)}\n")
    if isinstance(thing, type) and not issubclass(thing, Exception):
        nodes = stub.body if isinstance(stub, ast.ClassDef) else []
        types = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
        for member, value in sorted(vars(thing).items()):
            if not member.startswith("_") and inspect.getdoc(value):
                words = " ".join((inspect.getdoc(value) or "").split())
                lines.append(f"- `{member_signature(member, types.get(member))}`: {words}")
        lines.append("")
    return lines


def member_signature(name: str, stub: ast.FunctionDef | None) -> str:
    """A property with its type, a method with those of its arguments."""
    if stub is None:
        return name
    result = ast.unparse(stub.returns) if stub.returns else "None"
    decorators = {ast.unparse(decorator) for decorator in stub.decorator_list}
    if "property" in decorators:
        return f"{name}: {result}"
    arguments = ast.unparse(stub.args).removeprefix("self").removeprefix(", /").removeprefix(", ")
    return f"{name}({arguments}) -> {result}"


def signature(name: str, stub: ast.AST) -> str:
    """A function's signature, one argument on a line where it is long."""
    assert isinstance(stub, ast.FunctionDef)
    arguments = ast.unparse(stub.args)
    result = ast.unparse(stub.returns) if stub.returns else "None"
    line = f"{name}({arguments}) -> {result}"
    if len(line) <= 80:
        return line
    given = stub.args
    parts = [ast.unparse(ast.arguments([], [a], None, [], [], None, [])) for a in given.args]
    for place, default in enumerate(given.defaults, len(given.args) - len(given.defaults)):
        parts[place] += f" = {ast.unparse(default)}"
    parts += ["*"] if given.kwonlyargs else []
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        parts.append(ast.unparse(argument) + (f" = {ast.unparse(default)}" if default else ""))
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f") -> {result}"


def policy_types(stub: ast.Module) -> str:
    """The private names that signatures use, as the stub declares them."""
    kept = []
    for node in stub.body:
        target = getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id.startswith("_") and target.id != "__version__":
            kept.append(ast.unparse(node))
    return "\n\n".join(kept)


def tutorial() -> None:
    """Executes the tutorial and writes what it says and prints."""
    notebook = nbformat.read(ROOT / "docs/tutorial.ipynb", as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    lines = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            lines.append(f"{cell.source}\n")
            continue
        lines.append(f"```python\n{cell.source}\n```\n")
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                import base64

                (SITE / f"tutorial-{number}.png").write_bytes(base64.b64decode(data["image/png"]))
                lines.append(f"![what the cell draws](tutorial-{number}.png)\n")
            else:
                lines.append(f"```text\n{output.get('text') or data.get('text/plain', '')}\n```\n")
    (SITE / "tutorial.md").write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    """Builds the site."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, required=True, help="output of `prismux reproduce all --json`")
    parser.add_argument("--out", type=Path, default=ROOT / "results/site")
    given = parser.parse_args()
    global SITE
    with tempfile.TemporaryDirectory() as folder:
        SITE = Path(folder)
        moved = pages()
        for source, target in moved.items():
            if source.suffix == ".md":
                copy_page(source, target, moved)
            else:
                (SITE / target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, SITE / target)
        reports = Report.load(given.results)
        figures(reports)
        titled = [(TITLES.get(system, system), report) for system, report in reports.items()]
        (SITE / "claims.md").write_text(page(titled), encoding="utf-8")
        reference()
        tutorial()
        config = load_config(
            str(ROOT / "docs/mkdocs.yml"), docs_dir=folder, site_dir=str(given.out.resolve()), strict=True
        )
        build(config)
    print(f"site: {given.out}/index.html")


if __name__ == "__main__":
    main()
