"""How often the fields of a system's entities are declared: the rules are in `tools.counts`."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from tools.counting.copies import copied_attribute, is_dict, named_entries
from tools.counting.sources import Class, Function, Place, System

_ALIASES = {"alias", "validation_alias", "serialization_alias"}
_RECORDS = {"NamedTuple", "TypedDict"}


def plain(name: str) -> str:
    """A name in one spelling: postalCode, postal_code and PostalCode are the same."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).strip("_").lower()


def is_entity_base(found: object) -> bool:
    """Whether this is the kit's Entity, or a class that the kit derived from it."""
    return isinstance(found, type) and any(
        each.__name__ == "Entity" and each.__module__.startswith("keyplan.design") for each in found.__mro__
    )


class Fields:
    """The fields of a system's entities, and where they are declared."""

    def __init__(self, system: System) -> None:
        self.system = system

    # Classes

    @cached_property
    def entities(self) -> list[Class]:
        """The entity classes."""
        return [each for each in self.system.classes if any(map(is_entity_base, self.system.outside(each)))]

    @cached_property
    def _entity_side(self) -> set[Class]:
        """Entities, what they take fields from, and models that are the type of a field: these declare, not repeat."""
        found = [each for entity in self.entities for each in self._sources(entity)]
        for each in found:
            for statement in each.annotated.values():
                types = self.system.types_in(each.module, statement.annotation)
                parts = [part for part in types if isinstance(part, Class) and self._is_pydantic(part)]
                found += [part for part in parts if part not in found]
        return set(found)

    def _sources(self, entity: Class) -> list[Class]:
        """The classes that an entity has its fields from: its ancestors, and those named beside its bases."""
        found = self.system.ancestors(entity)
        named = [self.system.meaning(each.module, keyword.value) for each in found for keyword in each.keywords]
        return found + [each for each in named if isinstance(each, Class) and each not in found]

    @cached_property
    def models(self) -> set[Class]:
        """Bodies, answers and forms: every pydantic model that is not on the entities' side, and what they inherit."""
        models = [each for each in self.system.classes if self._is_pydantic(each) and each not in self._entity_side]
        return {each for model in models for each in self.system.ancestors(model)} - self._entity_side

    def _is_pydantic(self, of: Class) -> bool:
        """Whether it is a model. Where a base can't be found, it is taken for one, so that nothing hides there."""
        return any(base is None or hasattr(base, "model_fields") for base in self.system.outside(of))

    @cached_property
    def _records(self) -> list[Class]:
        """Dataclasses, named tuples and typed dicts."""
        others = [each for each in self.system.classes if each not in self.models and each not in self._entity_side]
        return [each for each in others if self._is_record(each)]

    def _is_record(self, of: Class) -> bool:
        decorators = of.node.decorator_list if of.node else []
        bases = {getattr(base, "__name__", "") for base in self.system.outside(of)}
        return bool(bases & _RECORDS) or any("dataclass" in ast.unparse(each) for each in decorators)

    # Fields

    @cached_property
    def fields(self) -> list[tuple[str, str]]:
        """Every field of every entity; one that is inherited from another entity belongs to that one."""
        found = []
        for entity in self.entities:
            others = [each for each in self._sources(entity) if each is not entity and each in self.entities]
            inherited = {name for other in others for name in self._names_of(other)}
            found += [(entity.name, name) for name in self._names_of(entity) if name not in inherited]
        return found

    def _names_of(self, entity: Class) -> dict[str, None]:
        """The names of an entity's fields, in order; those that the kit's classes give it are among them."""
        outside = [name for base in self.system.outside(entity) for name in getattr(base, "model_fields", ())]
        own = [name for each in reversed(self._sources(entity)) for name in each.annotated]
        return dict.fromkeys([*outside, *own])

    @cached_property
    def _names(self) -> set[str]:
        return {plain(name) for entity in self.entities for name in self._names_of(entity)}

    @cached_property
    def other_names(self) -> set[str]:
        """Names under which a field is copied: `author` where `author=post.author_id` is written somewhere."""
        return {name for function in self._functions for name in self._renamed_in(function)} - self._names

    @property
    def _functions(self) -> Iterator[Function]:
        """All functions but the entities' own: what they make is part of the design."""
        return (each for each in self.system.functions if each.owner not in self._entity_side)

    def _renamed_in(self, function: Function) -> Iterator[str]:
        for node in function.nodes:
            if is_dict(node) or self._makes_known(node, function):
                for name, value in named_entries(node):
                    yield from self._pair(name, copied_attribute(value), function)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
                yield from self._pair(node.targets[0].attr, copied_attribute(node.value), function)

    def _makes_known(self, node: ast.AST, function: Function) -> bool:
        """Whether this makes an entity, a body, an answer or a form."""
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Name) and node.func.id == "cls":
            return function.owner in self.models
        made = self.system.meaning(function.module, node.func)
        return isinstance(made, Class) and (made in self.models or made in self._entity_side)

    def _pair(self, name: str, value: ast.Attribute | None, function: Function) -> Iterator[str]:
        """The one of two names that is no field's, where the other is; `self.now` of a service is none of these."""
        if value is None or (ast.unparse(value.value) == "self" and function.owner not in self.models):
            return
        if (plain(name) in self._names) != (plain(value.attr) in self._names):
            yield plain(value.attr) if plain(name) in self._names else plain(name)

    def _is_field(self, name: str) -> bool:
        return plain(name) in self._names or plain(name) in self.other_names

    # Where they are declared again

    @cached_property
    def again_in_classes(self) -> list[Place]:
        """Fields that a body, an answer or a form writes down, and those that an entity takes over and changes."""
        found = []
        for each in self.models:
            for name, statement in each.given.items():
                if self._is_field(name) or any(map(self._is_field, _aliases(statement))):
                    found.append(_place(each, statement, name))
        return sorted({*found, *self._overridden(), *self._made()}, key=lambda place: (place.module, place.line))

    def _overridden(self) -> Iterator[Place]:
        for entity in self.entities:
            seen = {name for base in self.system.outside(entity) for name in getattr(base, "model_fields", ())}
            for each in reversed(self._sources(entity)):
                yield from (_place(each, statement, name) for name, statement in each.annotated.items() if name in seen)
                seen |= set(each.annotated)

    def _made(self) -> Iterator[Place]:
        """Fields in `create_model(...)`, and in a dict beside the bases that gives a name a type of its own."""
        for function in self.system.functions:
            for node in function.nodes:
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("create_model"):
                    for name, value in named_entries(node):
                        if self._is_field(name):
                            yield Place(function.module.name, value.lineno, f"create_model {name}")
        for each in self.models:
            for keyword in each.keywords:
                for name, value in named_entries(keyword.value) if is_dict(keyword.value) else ():
                    if self._is_field(name) and not isinstance(value, ast.Constant):
                        yield Place(each.module.name, value.lineno, f"{each.name}.{name}")

    @cached_property
    def again_in_dicts(self) -> list[Place]:
        """Fields that a function copies one by one into a dict that it returns or hands on as `**`."""
        found = []
        for function in self._functions:
            for node in self._made_dicts(function):
                for name, value in named_entries(node):
                    attribute = copied_attribute(value)
                    if attribute is not None and self._is_field(attribute.attr) and self._is_typed(attribute, function):
                        found.append(Place(function.module.name, value.lineno, f"{function.name}: {name}"))
        return found

    def _made_dicts(self, function: Function) -> list[ast.AST]:
        """The dicts that are returned or splatted, at once or by the name that they were given before."""
        handed_on: list[ast.AST] = []
        for node in function.nodes:
            match node:
                case ast.Return(value=ast.expr() as value) | ast.keyword(arg=None, value=value):
                    handed_on += ast.walk(value)
        names = {node.id for node in handed_on if isinstance(node, ast.Name)}
        for node in function.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
                    handed_on.append(value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name in names:
                    handed_on.append(value)
        return [node for node in dict.fromkeys(handed_on) if is_dict(node)]

    def _is_typed(self, attribute: ast.Attribute, function: Function) -> bool:
        """Whether the attribute is one of an entity, a body, an answer or a form that the function was given."""
        name = attribute.value.id if isinstance(attribute.value, ast.Name) else ""
        if name == "self":
            return function.owner in self.models
        types = self.system.types_in(function.module, function.annotation_of(name))
        return any(each in self.models or each in self._entity_side for each in types)

    # What is counted beside it, so that nothing is moved there unseen

    @cached_property
    def selections(self) -> list[Place]:
        """Names of fields that a derived class is given as texts: they choose, and declare nothing."""
        found = []
        for module, what, expression in self._derivations():
            for node in ast.walk(expression):
                match node:
                    case ast.Constant(value=str(name)) if self._is_field(name):
                        found.append(Place(module, node.lineno, f"{what}: {name}"))
        return found

    def _derivations(self) -> Iterator[tuple[str, str, ast.expr]]:
        """Where a class can be told which fields it has: in its parentheses, decorators and class variables, and in a
        call that makes one from another.
        """
        for each in self.models:
            for keyword in each.keywords:
                yield each.module.name, each.name, keyword.value
            for statement in each.node.body if each.node else ():
                match statement:
                    case ast.Assign(value=value):
                        yield each.module.name, each.name, value
                    case ast.AnnAssign(annotation=kind, value=ast.expr() as value) if "ClassVar" in ast.unparse(kind):
                        yield each.module.name, each.name, value
            for decorator in each.node.decorator_list if each.node else ():
                yield each.module.name, each.name, decorator
        for module in self.system.modules.values():
            for name, value in module.assigned.items():
                names = [node for node in ast.walk(value) if isinstance(node, ast.Name) and isinstance(value, ast.Call)]
                if any(self.system.meaning(module, each) in self._entity_side for each in names):
                    yield module.name, name, value

    @cached_property
    def keyword_copies(self) -> list[Place]:
        """Attributes that are copied one by one into the keywords of a body, an answer or a form."""
        found = []
        for function in self._functions:
            for node in function.nodes:
                if isinstance(node, ast.Call) and self._makes_known(node, function) and not is_dict(node):
                    for name, value in named_entries(node):
                        attribute = copied_attribute(value)
                        if attribute is not None and self._is_field(attribute.attr):
                            found.append(Place(function.module.name, value.lineno, f"{function.name}: {name}"))
        return found

    @cached_property
    def in_records(self) -> list[Place]:
        """Names of fields in dataclasses, named tuples and typed dicts."""
        found: Iterable[tuple[Class, str, ast.stmt]] = (
            (each, name, statement) for each in self._records for name, statement in each.annotated.items()
        )
        return [_place(each, statement, name) for each, name, statement in found if self._is_field(name)]


def _place(of: Class, statement: ast.stmt, name: str) -> Place:
    return Place(of.module.name, statement.lineno, f"{of.name}.{name}")


def _aliases(statement: ast.stmt) -> list[str]:
    """The texts that a field gives as its aliases."""
    keywords = [node for node in ast.walk(statement) if isinstance(node, ast.keyword) and node.arg in _ALIASES]
    texts = [node for keyword in keywords for node in ast.walk(keyword.value) if isinstance(node, ast.Constant)]
    return [each.value for each in texts if isinstance(each.value, str)]
