from typing import Literal

from sqlalchemy import Connection, text

from envs import ToolError, tool


def one(db: Connection, sql: str, **binds: object) -> dict:
    row = db.execute(text(sql), binds).mappings().first()
    if row is None:
        raise ToolError("There is no such entry.", category="not_found")
    return dict(row)


@tool(read_only=True)
def find_guest(db: Connection, name: str) -> dict:
    """Look up a guest.

    Args:
        name: The whole name.
    """
    return one(db, "SELECT name, room, phone, leaves FROM guests WHERE name = :name", name=name)


@tool(read_only=True)
def find_room(db: Connection, number: int) -> dict:
    """Look up a room.

    Args:
        number: The room's number.
    """
    sql = "SELECT number, floor, beds, price, state FROM rooms WHERE number = :number"
    return one(db, sql, number=number)


@tool
def set_state(db: Connection, number: int, state: Literal["clean", "dirty", "blocked"]) -> dict:
    """Say what state a room is in.

    Args:
        number: The room's number.
        state: clean, dirty or blocked.
    """
    sql = "UPDATE rooms SET state = :state WHERE number = :number RETURNING number, state"
    return one(db, sql, number=number, state=state)


@tool
def set_price(db: Connection, number: int, price: int) -> dict:
    """Change the price of a room.

    Args:
        number: The room's number.
        price: Euros for a night.
    """
    sql = "UPDATE rooms SET price = :price WHERE number = :number RETURNING number, price"
    return one(db, sql, number=number, price=price)


@tool
def set_leaving(db: Connection, name: str, leaves: str) -> dict:
    """Change the day on which a guest leaves.

    Args:
        name: The whole name.
        leaves: YYYY-MM-DD.
    """
    sql = "UPDATE guests SET leaves = :leaves WHERE name = :name RETURNING name, leaves"
    return one(db, sql, name=name, leaves=leaves)


@tool
def move_guest(db: Connection, name: str, room: int) -> dict:
    """Move a guest to another room.

    Args:
        name: The whole name.
        room: The new room's number.
    """
    sql = "UPDATE guests SET room = :room WHERE name = :name RETURNING name, room"
    return one(db, sql, name=name, room=room)
