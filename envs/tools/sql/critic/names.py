"""Tables, aliases and columns that a statement names and that are not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, find_all_in_scope, traverse_scope

from envs.sql_errors.advice import no_column, no_table
from envs.tools.sql.critic.frame import IMPLICIT, SPOKEN_OF, Columns, Frame, Relation, Source
from envs.tools.sql.critic.shape import cartesian, ungrouped
from envs.tools.sql.findings import Finding
from envs.types import ErrorCategory

_OWN_SCHEMAS = frozenset({"", "main", "public"})
_SYSTEM = ("sqlite_", "pg_", "pragma_", "dual")

Change = exp.Insert | exp.Update | exp.Delete


class Names:
    """Looks through one statement by sqlglot's scopes; ``findings`` fills up.

    ``relations`` by folded name; ``loose_groups`` as SQLite has it; ``crossed`` says that a cross
    join is meant. A name counts as known if any query around it may give it.
    """

    def __init__(
        self, relations: Mapping[str, Relation], *, loose_groups: bool, crossed: bool
    ) -> None:
        self.relations = relations
        self.loose_groups = loose_groups
        self.crossed = crossed
        self.findings: list[Finding] = []
        self._ctes: dict[str, frozenset[str]] = {}
        """The names that each CTE gives its columns after its own."""
        self._frames: dict[int, Frame] = {}

    def statement(self, node: exp.Expr) -> None:
        ctes = list(node.find_all(exp.CTE))
        self._ctes = {
            cte.alias.lower(): frozenset(name.lower() for name in cte.alias_column_names)
            for cte in ctes
        }
        for change in (node, *(cte.this for cte in ctes)):
            if isinstance(change, Change):
                self._change(change)
        selects = [one for one in traverse_scope(node) if isinstance(one.expression, exp.Select)]
        for scope in selects:
            frames = list(self._around(scope))
            for column in scope.find_all(exp.Column):
                self._column(column, frames)
            self._using(scope.expression.args.get("joins"), frames[:1])
        if not self.findings:  # with a name amiss, the rest is guesswork
            for scope in selects:
                self._shape(cast("exp.Select", scope.expression), self._frame(scope))

    def _shape(self, select: exp.Select, frame: Frame) -> None:
        unjoined = [] if self.crossed else cartesian(select, frame)
        self.findings += [
            Finding("unjoined_tables", reason, ErrorCategory.JOIN_ERROR) for reason in unjoined
        ]
        groups = ungrouped(select, frame, loose=self.loose_groups)
        self.findings += [
            Finding("ungrouped_column", reason, ErrorCategory.AGGREGATION_ERROR)
            for reason in groups
        ]

    def _around(self, scope: Scope | None) -> Iterator[Frame]:
        """The frames a scope sees, its own first. A CTE does not see the query that it serves."""
        while scope is not None:
            yield self._frame(scope)
            parent = scope.parent
            scope = parent.parent if parent is not None and scope.is_cte else parent

    def _frame(self, scope: Scope) -> Frame:
        known = self._frames.get(id(scope.expression))
        if known is None:
            known = self._frames[id(scope.expression)] = Frame()
            if isinstance(scope.expression, exp.Select):
                self._fill(known, scope)
        return known

    def _fill(self, frame: Frame, scope: Scope) -> None:
        for called, (node, source) in scope.selected_sources.items():
            if isinstance(source, Scope):
                columns, relation = self._output(source), None
                if columns is not None and isinstance(node, exp.Table):
                    columns |= self._ctes.get(node.name.lower(), frozenset())
            else:
                columns, relation = self._table(source)
            function = node.this.name if isinstance(node.this, exp.Anonymous) else ""
            alias = called or function
            frame.sources.append(Source(alias.lower(), _renamed(columns, node), relation))
        items = [scope.expression.args.get("from_"), *(scope.expression.args.get("joins") or ())]
        items += scope.expression.args.get("laterals") or ()
        frame.open = len([item for item in items if item is not None]) > len(frame.sources)
        if frame.open:
            frame.sources.append(Source("", None))
        frame.named = {item.alias.lower() for item in scope.expression.expressions if item.alias}

    def _output(self, scope: Scope) -> Columns:
        """The names of a query's columns, None where the engine chooses one of them."""
        while scope.set_operation_scopes:
            scope = scope.set_operation_scopes[0]
        select = scope.expression
        if not isinstance(select, exp.Select):
            return None
        names = {name.lower() for name in scope.outer_columns}
        for item in select.expressions:
            if item.is_star:
                table = item.table.lower() if isinstance(item, exp.Column) else None
                for source in self._frame(scope).sources:
                    if table in {None, source.alias}:
                        if source.columns is None:
                            return None
                        names |= source.columns
            elif isinstance(item, exp.Alias | exp.Column):
                names.add(item.alias_or_name.lower())
            else:
                return None
        return frozenset(names)

    def _table(self, table: exp.Expr) -> tuple[Columns, Relation | None]:
        name = table.name.lower()
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            return None, None
        if table.db.lower() not in _OWN_SCHEMAS or name.startswith(_SYSTEM):
            return None, None
        if not table.db and name in self._ctes:  # of its own or a later one, as on SQLite
            return None, None
        relation = self.relations.get(name)
        if relation is None:
            names = [item.name for item in self.relations.values()]
            missing = no_table(table.name, names, self._ctes)
            self._find(missing, ErrorCategory.TABLE_NOT_FOUND)
            return None, None
        if relation.columns is None:
            return None, relation
        return frozenset(column.lower() for column in relation.columns), relation

    def _using(self, joins: Sequence[exp.Expr] | None, frames: Sequence[Frame]) -> None:
        for join in joins or ():
            for name in join.args.get("using") or ():
                self._column(exp.column(name.name), frames)

    def _column(self, column: exp.Column, frames: Sequence[Frame]) -> None:
        if column.table:
            self._qualified(column.name, column.table, frames)
            return
        name = column.name.lower()
        sources = [source for frame in frames for source in frame.sources]
        if (
            name in IMPLICIT
            or isinstance(column.this, exp.Star)
            or not sources
            or any(
                source.columns is None or name in source.columns or name == source.alias
                for source in sources
            )
            or any(name in frame.named for frame in frames)
        ):
            return
        if isinstance(column.this, exp.Identifier) and column.this.args.get("quoted"):
            self._find(
                f"`{column.name}` in double quotes is read as a column, and there is none; write"
                " texts in single quotes"
            )
            return
        self._find(_no_column(column.name, sources))

    def _qualified(self, name: str, table: str, frames: Sequence[Frame]) -> None:
        found = next((source for frame in frames if (source := frame.called(table.lower()))), None)
        if found is None:
            if table.lower() not in SPOKEN_OF and not any(frame.open for frame in frames):
                self._find(
                    f"unknown table or alias `{table}`; name it in FROM or JOIN",
                    ErrorCategory.TABLE_NOT_FOUND,
                )
        elif (
            name != "*"
            and found.columns is not None
            and name.lower() not in found.columns | IMPLICIT
        ):
            self._find(_no_column(name, [found]))

    def _change(self, node: Change) -> None:
        """Look through what INSERT, UPDATE and DELETE say outside of queries."""
        frame = self._frames[id(node)] = Frame()
        listed = node.this if isinstance(node.this, exp.Schema) else None
        start, using = node.args.get("from_"), node.args.get("using")
        items = [node.this if listed is None else listed.this, *(using or ())]
        items += [start.this] if isinstance(start, exp.From) else []
        items = [item for item in items if isinstance(item, exp.Expr)]
        joins = [join for item in (node, *items) for join in item.args.get("joins") or ()]
        for item in [*items, *(join.this for join in joins)]:
            columns, relation = self._table(item)
            alias = item.alias_or_name.lower()
            frame.sources.append(Source(alias, _renamed(columns, item), relation))
        parts = [node]
        if isinstance(node, exp.Insert):
            frame.open = True  # MySQL's ON DUPLICATE KEY sees the sources of the SELECT as well
            self._listed(listed, frame)
            parts = [node.args.get("returning")]
            parts += [node.args.get("conflict")] if isinstance(node.expression, exp.Values) else []
        self._using(joins, [frame])
        for part in parts:
            for column in find_all_in_scope(part, exp.Column) if part is not None else ():
                self._column(column, [frame])

    def _listed(self, listed: exp.Schema | None, frame: Frame) -> None:
        """Look at the columns that an INSERT lists."""
        for item in listed.expressions if listed is not None and frame.sources else ():
            if isinstance(item, exp.Identifier):
                self._column(exp.column(item.name, frame.sources[0].alias), [frame])

    def _find(
        self, sentence: str, category: ErrorCategory = ErrorCategory.COLUMN_NOT_FOUND
    ) -> None:
        finding = Finding("missing_name", sentence, category)
        if finding not in self.findings:
            self.findings.append(finding)


def _renamed(columns: Columns, item: exp.Expr) -> Columns:
    """The columns under the names that an alias like ``t(a, b)`` gives them."""
    clause = item.args.get("alias")
    given = clause.args.get("columns") if isinstance(clause, exp.TableAlias) else None
    if not given:
        return columns
    return None if columns is None else columns | {entry.name.lower() for entry in given}


def _no_column(name: str, sources: Iterable[Source]) -> str:
    listed = list({item.alias: item for item in sources}.values())
    only = listed[0].relation if len(listed) == 1 else None
    return no_column(name, [(only.name if only else one.alias, _spelled(one)) for one in listed])


def _spelled(source: Source) -> list[str]:
    if source.relation is not None and source.relation.columns is not None:
        return list(source.relation.columns)
    return sorted(source.columns or ())
