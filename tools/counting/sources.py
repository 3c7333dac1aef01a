"""The source of a system as the counters see it: modules, classes with their bases, functions, and what a name means.

The system itself is only parsed, so that a sample in a test is read like the real thing. Names that come from elsewhere
(the kit, pydantic) are imported, so that a base class or an error is known by what it is and not by what it is called.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

AnyFunction: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Place:
    """Where something is: a line of a module, and the class or function that it is in."""

    module: str
    line: int
    what: str


@dataclass(eq=False)
class Class:
    """A class of the system; also one that a module makes with `create_model`, which has no body."""

    name: str
    module: "Module"
    bases: list[ast.expr]
    node: ast.ClassDef | None = None

    @property
    def keywords(self) -> list[ast.keyword]:
        """What stands in the parentheses beside the bases: `class PostOut(Out, of=Post)`."""
        return self.node.keywords if self.node else []

    @cached_property
    def annotated(self) -> dict[str, ast.AnnAssign]:
        """The fields that the body writes down, by name; class variables and private names are none."""
        found: dict[str, ast.AnnAssign] = {}
        for statement in self.node.body if self.node else ():
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name)) if "ClassVar" not in ast.unparse(statement.annotation):
                    found[name] = statement
        return {name: each for name, each in found.items() if not name.startswith("_")}

    @cached_property
    def given(self) -> dict[str, ast.stmt]:
        """The fields that the body writes down or gives another value, by name."""
        found: dict[str, ast.stmt] = dict(self.annotated)
        for statement in self.node.body if self.node else ():
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)]) if name != "model_config" and not name.startswith("_"):
                    found[name] = statement
        return found


@dataclass(eq=False)
class Function:
    """A function, a method, or the code of a module outside of any."""

    module: "Module"
    node: AnyFunction | ast.Module
    owner: Class | None = None
    outer: "Function | None" = None

    @property
    def name(self) -> str:
        return "" if isinstance(self.node, ast.Module) else self.node.name

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The statements without the docstring."""
        first, *rest = self.node.body or [ast.Pass()]
        is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        return rest if is_text else [first, *rest]

    @cached_property
    def parameters(self) -> dict[str, ast.expr | None]:
        """The parameters and their annotations, without `self` and `cls`."""
        if isinstance(self.node, ast.Module):
            return {}
        args = self.node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        return {each.arg: each.annotation for each in every if each.arg not in ("self", "cls")}

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Everything in the body, lambdas included, but not what is in functions and classes defined there."""
        return list(_within(self.node.body))

    def place(self, node: ast.AST) -> Place:
        """Where a part of it is."""
        return Place(self.module.name, getattr(node, "lineno", 0), self.name)

    def annotation_of(self, name: str) -> ast.expr | None:
        """The annotation of a parameter of this function or of one around it."""
        if name in self.parameters:
            return self.parameters[name]
        return self.outer.annotation_of(name) if self.outer else None


def _within(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [*reversed(nodes)]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


@dataclass(eq=False)
class Module:
    """A module of the system."""

    name: str
    tree: ast.Module
    is_package: bool = False
    classes: dict[str, Class] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    """What an imported name is: a module, or an attribute of it."""
    assigned: dict[str, ast.expr] = field(default_factory=dict)
    """Variables of the module, type aliases among them."""

    def __post_init__(self) -> None:
        self._read(self.tree.body, None, None)
        self.functions.append(Function(self, self.tree))
        for node in ast.walk(self.tree):
            match node:
                case ast.ImportFrom():
                    base = self._imported_from(node)
                    self.imports |= {each.asname or each.name: (base, each.name) for each in node.names}
                case ast.Import():
                    for each in node.names:
                        whole = each.name if each.asname else each.name.split(".")[0]
                        self.imports[each.asname or whole] = (whole, None)

    def _imported_from(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        up = parts[: len(parts) - node.level + self.is_package]
        return ".".join([*up, node.module] if node.module else up)

    def _read(self, body: list[ast.stmt], owner: Class | None, outer: Function | None) -> None:
        for node in body:
            match node:
                case ast.ClassDef():
                    made = Class(node.name, self, node.bases, node)
                    self.classes[node.name] = made
                    self._read(node.body, made, outer)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    function = Function(self, node, owner, outer)
                    self.functions.append(function)
                    self._read(node.body, owner, function)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assign(name, value, owner, outer)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._assign(name, value, owner, outer)
                case _:
                    for inner in ("body", "orelse", "finalbody"):
                        self._read(getattr(node, inner, []), owner, outer)
                    for branch in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                        self._read(branch.body, owner, outer)

    def _assign(self, name: str, value: ast.expr, owner: Class | None, outer: Function | None) -> None:
        if owner is not None or outer is not None:
            return
        self.assigned[name] = value
        if isinstance(value, ast.Call):
            bases = [each.value for each in value.keywords if each.arg == "__base__"]
            if bases:
                self.classes[name] = Class(name, self, bases)


class System:
    """The modules of a system, or of the kit."""

    def __init__(self, name: str, sources: Mapping[str, str]) -> None:
        self.name = name
        self.modules = {
            dotted.removesuffix(".__init__"): Module(
                dotted.removesuffix(".__init__"), ast.parse(source), dotted.endswith(".__init__")
            )
            for dotted, source in sources.items()
        }

    @classmethod
    def read(cls, folder: Path, package: str) -> "System":
        """The system in a folder, which is this package."""
        sources = {}
        for path in sorted(folder.rglob("*.py")):
            sources[".".join([package, *path.relative_to(folder).with_suffix("").parts])] = path.read_text()
        return cls(folder.name, sources)

    @property
    def functions(self) -> Iterator[Function]:
        """All functions, and the code of the modules."""
        for module in self.modules.values():
            yield from module.functions

    @cached_property
    def classes(self) -> list[Class]:
        """All classes."""
        return [each for module in self.modules.values() for each in module.classes.values()]

    @cached_property
    def functions_by_name(self) -> dict[str, list[Function]]:
        """The functions and methods of each name."""
        found: dict[str, list[Function]] = {}
        for each in self.functions:
            found.setdefault(each.name, []).append(each)
        return found

    def meaning(self, module: Module, expression: ast.expr | None) -> object:
        """What a name is: a class of the system, or the object itself where it is from elsewhere; else none."""
        match expression:
            case ast.Subscript(value=value):
                return self.meaning(module, value)
            case ast.Constant(value=str(text)):
                return self.meaning(module, _parsed(text))
            case ast.Attribute(value=value, attr=name):
                inside = self.meaning(module, value)
                if isinstance(inside, Module):
                    return self._named(inside, name)
                return getattr(inside, name, None) if isinstance(inside, ModuleType) else None
            case ast.Name(id=name):
                return self._named(module, name)
        return None

    def _named(self, module: Module, name: str) -> object:
        if name in module.classes:
            return module.classes[name]
        if name in module.imports:
            origin, attribute = module.imports[name]
            if attribute and f"{origin}.{attribute}" in self.modules:
                return self.modules[f"{origin}.{attribute}"]
            if origin in self.modules:
                return self._named(self.modules[origin], attribute) if attribute else self.modules[origin]
            return imported(origin, attribute)
        return getattr(builtins, name, None)

    def ancestors(self, of: Class) -> list[Class]:
        """The class and those of the system that it inherits from, the nearest first."""
        found = [of]
        for each in found:
            parents = [self.meaning(each.module, base) for base in each.bases]
            found += [parent for parent in parents if isinstance(parent, Class) and parent not in found]
        return found

    def outside(self, of: Class) -> list[object]:
        """The bases of a class, and of its ancestors, that are not classes of the system; none for an unknown one."""
        bases = [self.meaning(each.module, base) for each in self.ancestors(of) for base in each.bases]
        return [base for base in bases if not isinstance(base, Class)]

    def types_in(self, module: Module, annotation: ast.expr | None) -> list[object]:
        """The classes that an annotation mentions, those in type aliases included."""
        found: list[object] = []
        seen: set[tuple[str, str]] = set()
        waiting = [(module, annotation)]
        while waiting:
            at, expression = waiting.pop()
            for node in ast.walk(expression) if expression else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    waiting.append((at, _parsed(node.value)))
                elif isinstance(node, ast.Name | ast.Attribute):
                    found.append(self.meaning(at, node))
                where, name = self._variable(at, node)
                if name and (where.name, name) not in seen:
                    seen.add((where.name, name))
                    waiting += self.alias(where, name)
        return [each for each in found if isinstance(each, Class | type)]

    def _variable(self, module: Module, node: ast.AST) -> tuple[Module, str]:
        """The variable that a name stands for, and its module: also one that is named by its module, `fields.Slug`."""
        if isinstance(node, ast.Attribute) and isinstance(inside := self.meaning(module, node.value), Module):
            return inside, node.attr
        return module, node.id if isinstance(node, ast.Name) else ""

    def alias(self, module: Module, name: str) -> list[tuple[Module, ast.expr | None]]:
        """What a variable of a module stands for, and where that is written; nothing where it is none of the system."""
        if name in module.assigned:
            return [(module, module.assigned[name])]
        origin, attribute = module.imports.get(name, ("", None))
        return self.alias(self.modules[origin], attribute) if attribute and origin in self.modules else []


def _parsed(text: str) -> ast.expr | None:
    """An annotation that is written as a text; none where it is a text for people."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


@cache
def imported(module: str, attribute: str | None) -> object:
    """A module, or what is in it; none where there is no such name in it.

    A module that is broken is an error here, too: if it were taken for an unknown one, the figures would fall.
    """
    found = import_module(module)
    if attribute is None or hasattr(found, attribute):
        return found if attribute is None else getattr(found, attribute)
    try:
        return import_module(f"{module}.{attribute}")
    except ModuleNotFoundError:
        return None
