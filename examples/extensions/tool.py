"""A set of tools: `- {builtin: extensions.tool:shelf_tools, box: 10}` in a world's tools.yaml."""

from sqlalchemy import Connection, text

from envs import Tool, tool


def shelf_tools(*, box: int = 1) -> list[Tool]:
    @tool
    def add_boxes(db: Connection, room: str, boxes: int) -> dict:
        """Put boxes of books on a shelf.

        Args:
            room: The room of the shelf.
            boxes: The number of boxes.
        """
        sql = "UPDATE shelf SET books = books + :n WHERE room = :room RETURNING books"
        return {"books": db.execute(text(sql), {"n": boxes * box, "room": room}).scalar()}

    return [add_boxes]
