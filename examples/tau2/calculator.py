"""A calculator, which the airline and the shop of tau2-bench have in common."""

from __future__ import annotations

import ast
import operator
from typing import Annotated, Any

from sqlalchemy import Connection

from envs import ToolError, tool

_SIGNS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@tool(read_only=True, pure=True)
def calculate(
    db: Connection, expression: Annotated[str, {"pattern": r"^[0-9+\-*/(). ]{1,200}$"}]
) -> dict[str, Any]:
    """Work out an expression of numbers, + - * / and parentheses, to two decimals.

    Args:
        expression: The expression, for example 2 * (3 + 4).
    """
    try:
        return {"result": round(_value(ast.parse(expression.strip(), mode="eval").body), 2)}
    except (SyntaxError, ZeroDivisionError, KeyError, AttributeError) as error:
        raise ToolError(f"{expression} cannot be worked out.", category="invalid") from error


def _value(node: Any) -> float:
    if isinstance(node, ast.Constant):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    return _SIGNS[type(node.op)](_value(node.left), _value(node.right))
