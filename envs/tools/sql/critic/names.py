"""Tables, aliases and columns that a statement names and that are not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from sqlglot import exp

from envs.sql_errors import nearest
from envs.tools.sql.critic.frame import (
    IMPLICIT,
    SPOKEN_OF,
    Columns,
    Frame,
    Relation,
    Source,
    inside,
)
from envs.tools.sql.critic.shape import cartesian, ungrouped
from envs.tools.sql.findings import Finding

_OWN_SCHEMAS = frozenset({"", "main", "public"})
_SYSTEM = ("sqlite_", "pg_", "pragma_", "dual")

Known = Mapping[str, Columns]
Frames = tuple[Frame, ...]


class Names:
    """Walks one statement; ``findings`` fills up.

    ``relations`` by folded name; ``loose_groups`` as SQLite has it; ``crossed`` says that a cross
    join is meant.
    """

    def __init__(
        self, relations: Mapping[str, Relation], *, loose_groups: bool, crossed: bool
    ) -> None:
        self.relations = relations
        self.loose_groups = loose_groups
        self.crossed = crossed
        self.findings: list[Finding] = []

    def statement(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Query | exp.Values):
            self.query(node, (), {})
        elif isinstance(node, exp.Insert):
            self._insert(node)
        elif isinstance(node, exp.Update | exp.Delete):
            self._change(node)

    def query(self, node: exp.Expr, outer: Frames, known: Known) -> Columns:
        """Look through a query that sees the frames of ``outer``, and tell the names of its
        columns.
        """
        known = self._with(node, outer, known)
        if isinstance(node, exp.Select):
            return self._select(node, outer, known)
        if isinstance(node, exp.SetOperation):
            columns = self.query(node.this, outer, known)
            self.query(node.expression, outer, known)
            return columns
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
            return self.query(node.this, outer, known)
        for item in inside(node):
            if item is not node and isinstance(item, exp.Query):
                self.query(item, outer, known)
        return None

    def _with(self, node: exp.Expr, outer: Frames, known: Known) -> Known:
        """The CTEs in reach of a statement. They may speak of themselves and, on SQLite, of later
        ones.
        """
        clause = node.args.get("with_")
        if not isinstance(clause, exp.With):
            return known
        known = {**known, **{expression.alias.lower(): None for expression in clause.expressions}}
        for expression in clause.expressions:
            if isinstance(expression.this, exp.Query | exp.Values):
                known[expression.alias.lower()] = _renamed(
                    self.query(expression.this, outer, known), expression
                )
            else:
                self.statement(expression.this)
        return known

    def _select(self, node: exp.Select, outer: Frames, known: Known) -> Columns:
        frame = Frame()
        frames = (frame, *outer)
        before = len(self.findings)
        start = node.args.get("from_")
        if isinstance(start, exp.From):
            self._source(start.this, frame, outer, known)
        self._joins(node, frame, outer, known)
        frame.named = {
            expression.alias.lower()
            for expression in node.expressions
            if isinstance(expression, exp.Alias)
        }
        for key, value in node.args.items():
            if key not in {"with_", "from_", "joins", "laterals"}:
                self._expression(value, frames, known)
        if len(self.findings) == before:  # with a name amiss, the rest is guesswork
            unjoined = [] if self.crossed else cartesian(node, frame)
            self.findings += [Finding("unjoined_tables", reason) for reason in unjoined]
            groups = ungrouped(node, frame, loose=self.loose_groups)
            self.findings += [Finding("ungrouped_column", reason) for reason in groups]
        return _output(node, frame)

    def _joins(self, node: exp.Expr, frame: Frame, outer: Frames, known: Known) -> None:
        joins = [item for item in node.args.get("joins") or () if isinstance(item, exp.Join)]
        for lateral in node.args.get("laterals") or ():
            self._source(lateral, frame, outer, known)
        for join in joins:
            self._source(join.this, frame, outer, known)
        for join in joins:
            self._expression(join.args.get("on"), (frame, *outer), known)
            for column in join.args.get("using") or ():
                self._column(column.name, None, (frame,), quoted=False)

    def _source(self, item: exp.Expr, frame: Frame, outer: Frames, known: Known) -> None:
        """Add one item of FROM to the frame. What stands in it sees the frame as it is, as LATERAL
        would.
        """
        frames = (frame, *outer)
        alias = item.alias.lower()
        if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            columns, relation = self._table(item, known)
            frame.sources.append(
                Source(alias or item.name.lower(), _renamed(columns, item), relation)
            )
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
            near = nearest(name, sorted({*(item.name for item in self.relations.values()), *known}))
            there = ", ".join(sorted(item.name for item in self.relations.values())[:10])
            advice = f"did you mean {', '.join(near)}?" if near else f"there are {there}"
            self._find(f"no table `{table.name}`; {advice}")
            return None, None
        columns = (
            None
            if relation.columns is None
            else frozenset(column.lower() for column in relation.columns)
        )
        return columns, relation

    def _expression(self, node: Any, frames: Frames, known: Known) -> None:
        """Look through what an argument of a node holds: an expression, a list of them, or
        something plain.
        """
        if isinstance(node, list):
            for item in cast("list[Any]", node):
                self._expression(item, frames, known)
        if not isinstance(node, exp.Expr):
            return
        for item in inside(node):
            if isinstance(item, exp.Query):
                self.query(item, frames, known)
            elif isinstance(item, exp.Column):
                quoted = isinstance(item.this, exp.Identifier) and bool(
                    item.this.args.get("quoted")
                )
                self._column(item.name, item.table or None, frames, quoted=quoted)

    def _column(self, name: str, table: str | None, frames: Frames, *, quoted: bool) -> None:
        column = name.lower()
        if table is not None:
            self._qualified(name, table, frames)
            return
        sources = [source for frame in frames for source in frame.sources]
        if (
            column in IMPLICIT
            or not sources
            or any(
                source.columns is None or column in source.columns or column == source.alias
                for source in sources
            )
            or any(column in frame.named for frame in frames)
        ):
            return
        if quoted:
            self._find(
                f"`{name}` in double quotes is read as a column, and there is none; write texts in"
                " single quotes"
            )
            return
        self._find(_no_column(name, sources))

    def _qualified(self, name: str, table: str, frames: Frames) -> None:
        found = next((source for frame in frames if (source := frame.called(table.lower()))), None)
        if found is None:
            if table.lower() not in SPOKEN_OF and not any(frame.open for frame in frames):
                self._find(f"unknown table or alias `{table}`; name it in FROM or JOIN")
        elif (
            name != "*"
            and found.columns is not None
            and name.lower() not in found.columns | IMPLICIT
        ):
            self._find(_no_column(name, [found]))

    def _insert(self, node: exp.Insert) -> None:
        known = self._with(node, (), {})
        frame = Frame()
        target = node.this.this if isinstance(node.this, exp.Schema) else node.this
        if not isinstance(target, exp.Table):
            return
        self._source(target, frame, (), {})
        for expression in node.this.expressions if isinstance(node.this, exp.Schema) else ():
            if isinstance(expression, exp.Identifier):
                self._column(expression.name, frame.sources[0].alias, (frame,), quoted=False)
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
        others = [
            *([start.this] if isinstance(start, exp.From) else []),
            *(node.args.get("using") or ()),
        ]
        for other in [node.this, *others]:
            if isinstance(other, exp.Expr):
                self._source(other, frame, (), known)
        self._joins(node, frame, (), known)
        for key in ("expressions", "where", "returning", "order"):
            self._expression(node.args.get(key), (frame,), known)

    def _find(self, sentence: str) -> None:
        finding = Finding("missing_name", sentence)
        if finding not in self.findings:
            self.findings.append(finding)


def _renamed(columns: Columns, item: exp.Expr) -> Columns:
    """The columns under the names that an alias like ``t(a, b)`` gives them."""
    clause = item.args.get("alias")
    given = clause.args.get("columns") if isinstance(clause, exp.TableAlias) else None
    if not given:
        return columns
    return None if columns is None else columns | {entry.name.lower() for entry in given}


def _output(node: exp.Select, frame: Frame) -> Columns:
    """The names of a SELECT's columns, None where the engine chooses one of them."""
    names: set[str] = set()
    for expression in node.expressions:
        if isinstance(expression, exp.Star) or (
            isinstance(expression, exp.Column) and isinstance(expression.this, exp.Star)
        ):
            owner = (
                frame.called(expression.table.lower())
                if isinstance(expression, exp.Column)
                else None
            )
            for source in frame.sources if owner is None else [owner]:
                if source.columns is None:
                    return None
                names |= source.columns
        elif isinstance(expression, exp.Alias | exp.Column):
            names.add(expression.alias_or_name.lower())
        else:
            return None
    return frozenset(names)


def _no_column(name: str, sources: Iterable[Source]) -> str:
    """One sentence in the words of the advice on such an error."""
    listed = list({item.alias: item for item in sources}.values())
    spelled = [(item, _spelled(item)) for item in listed]
    if len(listed) == 1:
        (source, columns) = spelled[0]
        near = nearest(name, columns)
        where = source.relation.name if source.relation else source.alias
        head = f"no column `{name}` in {f'`{where}`' if where else 'the subquery'}"
        return (
            f"{head}; did you mean {', '.join(near)}?"
            if near
            else f"{head}; it has {', '.join(columns[:8])}"
        )
    near = nearest(name, sorted({column for _, columns in spelled for column in columns}))
    owners = [
        f"{source.alias}.{item}".lstrip(".")
        for item in near
        for source, columns in spelled
        if item in columns
    ]
    head = f"no column `{name}`"
    if owners:
        return f"{head}; did you mean {', '.join(owners[:3])}?"
    return f"{head} in {', '.join(item.alias for item in listed[:5] if item.alias)}"


def _spelled(source: Source) -> list[str]:
    if source.relation is not None and source.relation.columns is not None:
        return list(source.relation.columns)
    return sorted(source.columns or ())
