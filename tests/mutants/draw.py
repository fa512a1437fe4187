"""Random mutants: small changes of the syntax tree, drawn by area and seed.

Each is planted as a fault of the list is, and judged by the near tests: the file or folder that
mirrors the source, else the files that import it, else the folder of its room; and the examples of
the source itself. One that no test could notice is listed
in ``equivalent.toml`` with the reason, under a name that does not depend on line numbers.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.mutants.faults import PACKAGE, ROOT, StaleFault

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
OPPOSITE: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
OTHER_NAME = {
    "all": "any",
    "any": "all",
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "ceil": "floor",
    "floor": "ceil",
    "True": "False",
}
#: Other trees that are no program of ours: what is printed in them says nothing.
LEFT_OUT = ("__init__.py",)


@dataclass(frozen=True)
class Mutant:
    """A change of one expression; the name has the function, what was there, and what is now."""

    name: str
    file: str
    span: tuple[int, int]
    old: str
    new: str
    tests: tuple[str, ...]

    def path(self, root: Path = ROOT) -> Path:
        """Return the file in a copy of the tree."""
        return root / PACKAGE / self.file

    @property
    def rounds(self) -> tuple[tuple[str, ...], ...]:
        """The tests that name the function or class, which are likely to notice; then all."""
        names = set(self.name.partition("::")[2].partition(":")[0].split("."))
        naming = tuple(
            f"{file}::{test.name}"
            for file in self.tests
            if Path(file) in _texts()
            for test in ast.parse(_texts()[Path(file)]).body
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
            if names & {_name(node) for node in ast.walk(test)}
        )
        return (naming, self.tests) if naming else (self.tests,)

    def planted(self, source: str) -> str:
        """Return the source with the change in it."""
        first, last = self.span
        data = source.encode()
        if data[first:last].decode() != self.old:
            raise StaleFault(f"{self.name}: the source has changed")
        return (data[:first] + f"({self.new})".encode() + data[last:]).decode()


def areas() -> dict[str, list[str]]:
    """Return the files of each area that has near tests, by the folder of the package."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        file = path.relative_to(ROOT / PACKAGE).as_posix()
        if path.name not in LEFT_OUT and near_tests(file):
            parts = file.split("/")
            area = "/".join(parts[: 2 if parts[0] == "app" and len(parts) > 2 else 1])
            found.setdefault("/" if area.endswith(".py") else area, []).append(file)
    return found


def near_tests(file: str) -> tuple[str, ...]:
    """Return the tests nearest to a file, and the file itself where it has examples.

    The file ``classifier.py`` has ``test_classifier.py``, ``test_classifier_warm.py`` and so on.
    """
    place = Path("tests", file)
    room, stem = ".".join(("noisypairs", *place.parts[1:-1])), place.stem
    imported = re.compile(rf"\b{room}(\.{stem}\b| import [^()\n]*\b{stem}\b)")
    own = ROOT / PACKAGE / file

    def mirrors(test: Path) -> bool:
        return test.parent == place.parent and f"{test.stem}_".startswith(f"test_{stem}_")

    nearest = (
        [place.with_suffix(""), *(one for one in _texts() if mirrors(one))],
        [one for one, text in _texts().items() if imported.search(text)],
        [place.parent] if len(place.parts) > 2 else [],
    )
    there = ([one.as_posix() for one in some if (ROOT / one).exists()] for some in nearest)
    tests = next(filter(None, there), [])
    if tests and ">>> " in own.read_text("utf-8"):
        tests.append((PACKAGE / file).as_posix())
    return tuple(tests)


@functools.cache
def _texts() -> dict[Path, str]:
    """Return what the test files hold, by their place in the tree."""
    files = sorted(ROOT.glob("tests/**/test_*.py"))
    return {one.relative_to(ROOT): one.read_text("utf-8") for one in files}


def mutants_of(file: str) -> list[Mutant]:
    """Return every mutant of a file."""
    source = (ROOT / PACKAGE / file).read_text("utf-8")
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tests, found = near_tests(file), list[Mutant]()
    times: Counter[str] = Counter()
    for where, node in _expressions(ast.parse(source), ""):
        if isinstance(node, ast.Constant) and not where:
            continue  # a choice of the module, on which no test should insist
        for changed in _changes(node):
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            first = starts[node.lineno - 1] + node.col_offset
            last = starts[node.end_lineno - 1] + node.end_col_offset
            old, new = source.encode()[first:last].decode(), ast.unparse(changed)
            name = f"{file}::{where}: {ast.unparse(node)} -> {new}"
            times[name] += 1
            name += f" ({times[name]})" if times[name] > 1 else ""
            found.append(Mutant(name, file, (first, last), old, new, tests))
    return found


def _expressions(node: ast.AST, where: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield the expressions of functions and constants with the name of what holds them.

    What is said in messages, types and decorators is no behaviour that a test should fix.
    """
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "exc", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Assert):
                continue
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue  # of zip, where it says what always holds, as an assertion does
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            inside = where
            if isinstance(child, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                inside = f"{where}.{child.name}".lstrip(".")
            if isinstance(child, ast.expr) and hasattr(child, "lineno"):
                yield inside, child
            yield from _expressions(child, inside)


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    """Yield other expressions that could stand there."""
    new = copy.deepcopy(node)
    match new:
        case ast.BinOp() if type(new.op) in OPPOSITE and not _is_text(new):
            new.op = OPPOSITE[type(new.op)]()  # type: ignore[assignment]
            yield new
        case ast.BoolOp():
            new.op = OPPOSITE[type(new.op)]()  # type: ignore[assignment]
            yield new
        case ast.Compare() if type(new.ops[0]) in OPPOSITE:
            new.ops[0] = OPPOSITE[type(new.ops[0])]()  # type: ignore[call-overload]
            yield new
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield new.operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)) if abs(value) < 1e6:
            yield ast.Constant(value + 1 if isinstance(value, int) else 1.5 * value or 1.0)
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in OTHER_NAME:
            if isinstance(new, ast.Attribute):
                new.attr = OTHER_NAME[name]
                yield new
            else:
                yield ast.Name(OTHER_NAME[name])
        case ast.IfExp():
            new.body, new.orelse = new.orelse, new.body
            yield new


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _is_text(node: ast.BinOp) -> bool:
    """Whether it is about strings or types as far as can be seen."""
    sides = (node.left, node.right)
    texts = any(isinstance(one, ast.JoinedStr) or _is_string(one) for one in sides)
    return texts or (isinstance(node.op, ast.BitOr) and any(_is_type(one) for one in sides))


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and (node.id[:1].isupper() or node.id in ("str", "int"))


def draw(number: int, seed: int, only: Sequence[str] = ()) -> list[Mutant]:
    """Draw mutants: an area first, each as likely, then one of its mutants."""
    random, known = Random(seed), areas()
    if unknown := set(only) - set(known):
        raise ValueError(f"no such area: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    left = {
        area: [one for file in files for one in mutants_of(file)]
        for area, files in known.items()
        if not only or area in only
    }
    drawn: list[Mutant] = []
    while len(drawn) < number and any(left.values()):
        area = random.choice([area for area, some in left.items() if some])
        drawn.append(left[area].pop(random.randrange(len(left[area]))))
    return drawn


def equivalents() -> dict[str, str]:
    """Return the mutants that change nothing a test could see, and why: name -> reason."""
    rows = tomllib.loads(EQUIVALENT.read_text("utf-8"))["mutant"]
    return {row["name"]: row["why"] for row in rows}
