"""Tables, aliases and columns that a statement names and that are not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from sqlglot import exp

from envs.sql_critic.frame import IMPLICIT, SPOKEN_OF, Columns, Frame, Relation, Source, inside
from envs.sql_critic.shape import cartesian, ungrouped
from envs.sql_errors import nearest

_OWN_SCHEMAS = frozenset({"", "main", "public"})
_SYSTEM = ("sqlite_", "pg_", "pragma_", "dual")

Known = Mapping[str, Columns]
Frames = tuple[Frame, ...]


class Names:
    """Walks one statement; ``findings`` fills up.

    ``relations`` by folded name; ``loose_groups`` as SQLite has it; ``crossed`` says that a cross join is meant.
    """

    def __init__(self, relations: Mapping[str, Relation], *, loose_groups: bool, crossed: bool) -> None:
        self.relations = relations
        self.loose_groups = loose_groups
        self.crossed = crossed
        self.findings: list[str] = []

    def statement(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Query | exp.Values):
            self.query(node, (), {})
        elif isinstance(node, exp.Insert):
            self._insert(node)
        elif isinstance(node, exp.Update | exp.Delete):
            self._change(node)

    def query(self, node: exp.Expr, outer: Frames, known: Known) -> Columns:
        """Look through a query that sees the frames of ``outer``, and tell the names of its columns."""
        known = self._with(node, outer, known)
        if isinstance(node, exp.Select):
            return self._select(node, outer, known)
        if isinstance(node, exp.SetOperation):
            columns = self.query(node.this, outer, known)
            self.query(node.expression, outer, known)
            return columns
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
            return self.query(node.this, outer, known)
        for each in inside(node):
            if each is not node and isinstance(each, exp.Query):
                self.query(each, outer, known)
        return None

    def _with(self, node: exp.Expr, outer: Frames, known: Known) -> Known:
        """The CTEs in reach of a statement. They may speak of themselves and, on SQLite, of later ones."""
        clause = node.args.get("with_")
        if not isinstance(clause, exp.With):
            return known
        known = {**known, **{each.alias.lower(): None for each in clause.expressions}}
        for each in clause.expressions:
            if isinstance(each.this, exp.Query | exp.Values):
                known[each.alias.lower()] = _renamed(self.query(each.this, outer, known), each)
            else:
                self.statement(each.this)
        return known

    def _select(self, node: exp.Select, outer: Frames, known: Known) -> Columns:
        frame = Frame()
        frames = (frame, *outer)
        before = len(self.findings)
        start = node.args.get("from_")
        if isinstance(start, exp.From):
            self._source(start.this, frame, outer, known)
        self._joins(node, frame, outer, known)
        frame.named = {each.alias.lower() for each in node.expressions if isinstance(each, exp.Alias)}
        for key, value in node.args.items():
            if key not in {"with_", "from_", "joins", "laterals"}:
                self._expression(value, frames, known)
        if len(self.findings) == before:  # with a name amiss, the rest is guesswork
            self.findings += [] if self.crossed else cartesian(node, frame)
            self.findings += ungrouped(node, frame, loose=self.loose_groups)
        return _output(node, frame)

    def _joins(self, node: exp.Expr, frame: Frame, outer: Frames, known: Known) -> None:
        joins = [each for each in node.args.get("joins") or () if isinstance(each, exp.Join)]
        for lateral in node.args.get("laterals") or ():
            self._source(lateral, frame, outer, known)
        for each in joins:
            self._source(each.this, frame, outer, known)
        for each in joins:
            self._expression(each.args.get("on"), (frame, *outer), known)
            for column in each.args.get("using") or ():
                self._column(column.name, None, (frame,), quoted=False)

    def _source(self, item: exp.Expr, frame: Frame, outer: Frames, known: Known) -> None:
        """Add one item of FROM to the frame. What stands in it sees the frame as it is, as LATERAL would."""
        frames = (frame, *outer)
        alias = item.alias.lower()
        if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            columns, relation = self._table(item, known)
            frame.sources.append(Source(alias or item.name.lower(), _renamed(columns, item), relation))
        elif isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table):
            self._source(item.this, frame, outer, known)  # a join in parentheses
            if alias:
                frame.sources.append(Source(alias, None))
        else:
            query = item.this if isinstance(item, exp.Lateral | exp.Subquery) else item
            columns = self.query(query, frames, known) if isinstance(query, exp.Query) else None
            if not isinstance(query, exp.Query):
                self._expression(list(item.args.values()), frames, known)
            if not alias and isinstance(item.this, exp.Anonymous):
                alias = item.this.name.lower()
            frame.open = frame.open or not alias
            frame.sources.append(Source(alias, _renamed(columns, item)))
        self._joins(item, frame, outer, known)

    def _table(self, table: exp.Table, known: Known) -> tuple[Columns, Relation | None]:
        name = table.name.lower()
        if not table.db and name in known:
            return known[name], None
        if table.db.lower() not in _OWN_SCHEMAS or name.startswith(_SYSTEM):
            return None, None
        relation = self.relations.get(name)
        if relation is None:
            near = nearest(name, sorted({*(each.name for each in self.relations.values()), *known}))
            there = ", ".join(sorted(each.name for each in self.relations.values())[:10])
            told = f"did you mean {', '.join(near)}?" if near else f"there are {there}"
            self._find(f"no table `{table.name}`; {told}")
            return None, None
        columns = None if relation.columns is None else frozenset(each.lower() for each in relation.columns)
        return columns, relation

    def _expression(self, node: Any, frames: Frames, known: Known) -> None:
        """Look through what an argument of a node holds: an expression, a list of them, or something plain."""
        if isinstance(node, list):
            for each in cast("list[Any]", node):
                self._expression(each, frames, known)
        if not isinstance(node, exp.Expr):
            return
        for each in inside(node):
            if isinstance(each, exp.Query):
                self.query(each, frames, known)
            elif isinstance(each, exp.Column):
                quoted = isinstance(each.this, exp.Identifier) and bool(each.this.args.get("quoted"))
                self._column(each.name, each.table or None, frames, quoted=quoted)

    def _column(self, name: str, table: str | None, frames: Frames, *, quoted: bool) -> None:
        column = name.lower()
        if table is not None:
            self._qualified(name, table, frames)
            return
        sources = [each for frame in frames for each in frame.sources]
        if (
            column in IMPLICIT
            or not sources
            or any(each.columns is None or column in each.columns or column == each.alias for each in sources)
            or any(column in frame.named for frame in frames)
        ):
            return
        if quoted:
            self._find(
                f"`{name}` in double quotes is read as a column, and there is none; write texts in single quotes"
            )
            return
        self._find(_no_column(name, sources))

    def _qualified(self, name: str, table: str, frames: Frames) -> None:
        found = next((source for frame in frames if (source := frame.called(table.lower()))), None)
        if found is None:
            if table.lower() not in SPOKEN_OF and not any(frame.open for frame in frames):
                self._find(f"`{table}` is no table or alias of this statement; name it in FROM or JOIN")
        elif name != "*" and found.columns is not None and name.lower() not in found.columns | IMPLICIT:
            self._find(_no_column(name, [found]))

    def _insert(self, node: exp.Insert) -> None:
        known = self._with(node, (), {})
        frame = Frame()
        target = node.this.this if isinstance(node.this, exp.Schema) else node.this
        if not isinstance(target, exp.Table):
            return
        self._source(target, frame, (), {})
        for each in node.this.expressions if isinstance(node.this, exp.Schema) else ():
            if isinstance(each, exp.Identifier):
                self._column(each.name, frame.sources[0].alias, (frame,), quoted=False)
        if isinstance(node.expression, exp.Expr):
            self.query(node.expression, (), known)
        frame.open = True  # MySQL's ON DUPLICATE KEY sees the sources of the SELECT as well
        for key in ("conflict", "returning"):
            if key == "returning" or isinstance(node.expression, exp.Values):
                self._expression(node.args.get(key), (frame,), known)

    def _change(self, node: exp.Update | exp.Delete) -> None:
        known = self._with(node, (), {})
        frame = Frame()
        start = node.args.get("from_")
        others = [*([start.this] if isinstance(start, exp.From) else []), *(node.args.get("using") or ())]
        for each in [node.this, *others]:
            if isinstance(each, exp.Expr):
                self._source(each, frame, (), known)
        self._joins(node, frame, (), known)
        for key in ("expressions", "where", "returning", "order"):
            self._expression(node.args.get(key), (frame,), known)

    def _find(self, sentence: str) -> None:
        if sentence not in self.findings:
            self.findings.append(sentence)


def _renamed(columns: Columns, item: exp.Expr) -> Columns:
    """The columns under the names that an alias like ``t(a, b)`` gives them."""
    clause = item.args.get("alias")
    given = clause.args.get("columns") if isinstance(clause, exp.TableAlias) else None
    if not given:
        return columns
    return None if columns is None else columns | {each.name.lower() for each in given}


def _output(node: exp.Select, frame: Frame) -> Columns:
    """The names of a SELECT's columns, None where the engine chooses one of them."""
    names: set[str] = set()
    for each in node.expressions:
        if isinstance(each, exp.Star) or (isinstance(each, exp.Column) and isinstance(each.this, exp.Star)):
            owner = frame.called(each.table.lower()) if isinstance(each, exp.Column) else None
            for source in frame.sources if owner is None else [owner]:
                if source.columns is None:
                    return None
                names |= source.columns
        elif isinstance(each, exp.Alias | exp.Column):
            names.add(each.alias_or_name.lower())
        else:
            return None
    return frozenset(names)


def _no_column(name: str, sources: Iterable[Source]) -> str:
    """One sentence in the words of the advice on such an error."""
    listed = list({each.alias: each for each in sources}.values())
    spelled = [(each, _spelled(each)) for each in listed]
    if len(listed) == 1:
        (source, columns) = spelled[0]
        near = nearest(name, columns)
        where = source.relation.name if source.relation else source.alias
        head = f"no column `{name}` in {f'`{where}`' if where else 'the subquery'}"
        return f"{head}; did you mean {', '.join(near)}?" if near else f"{head}; it has {', '.join(columns[:8])}"
    near = nearest(name, sorted({each for _, columns in spelled for each in columns}))
    owners = [f"{source.alias}.{each}".lstrip(".") for each in near for source, columns in spelled if each in columns]
    head = f"no column `{name}`"
    if owners:
        return f"{head}; did you mean {', '.join(owners[:3])}?"
    return f"{head} in {', '.join(each.alias for each in listed[:5] if each.alias)}"


def _spelled(source: Source) -> list[str]:
    if source.relation is not None and source.relation.columns is not None:
        return list(source.relation.columns)
    return sorted(source.columns or ())
