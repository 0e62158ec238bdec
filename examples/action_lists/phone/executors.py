from typing import Literal

from sqlalchemy import Connection, text

from envs import ToolError, tool


def row(db: Connection, sql: str, **binds: object) -> dict:
    found = db.execute(text(sql), binds).mappings().first()
    if found is None:
        raise ToolError("There is no such line.", category="not_found")
    return dict(found)


def change_line(db: Connection, line_id: int, column: str, to: str, **binds: object) -> dict:
    sql = f"UPDATE phone_lines SET {column} = {to} WHERE line_id = :line"
    db.execute(text(sql), {"line": line_id, **binds})
    sql = f"SELECT line_id, {column} FROM phone_lines WHERE line_id = :line"
    return row(db, sql, line=line_id)


def change_setting(db: Connection, column: str, value: object) -> dict:
    db.execute(text(f"UPDATE phone SET {column} = :value"), {"value": value})
    return row(db, f"SELECT {column} FROM phone")


@tool(read_only=True)
def find_line(db: Connection, phone_number: str) -> dict:
    """Find a line and its plan.

    Args:
        phone_number: As the customer says it.
    """
    sql = (
        "SELECT line_id, owner, name AS plan, roaming, extra_gigabytes, sim"
        " FROM phone_lines JOIN plans USING (plan_id) WHERE number = :number"
    )
    return row(db, sql, number=phone_number)


@tool
def allow_roaming(db: Connection, line_id: int) -> dict:
    """Let a line use the networks of other countries.

    Args:
        line_id: The line.
    """
    return change_line(db, line_id, "roaming", "TRUE")


@tool
def add_gigabytes(db: Connection, line_id: int, gigabytes: int) -> dict:
    """Add data to a line for this month.

    Args:
        line_id: The line.
        gigabytes: How many gigabytes.
    """
    return change_line(db, line_id, "extra_gigabytes", "extra_gigabytes + :more", more=gigabytes)


@tool
def change_sim(db: Connection, line_id: int, sim: int) -> dict:
    """Move a line to another SIM card.

    Args:
        line_id: The line.
        sim: The number on the new card.
    """
    return change_line(db, line_id, "sim", ":sim", sim=sim)


@tool(offered_to="user", read_only=True)
def look_at_settings(db: Connection) -> dict:
    """Look at the settings of the phone: data, roaming, saver and network mode."""
    return row(db, "SELECT mobile_data, data_roaming, data_saver, network_mode FROM phone")


@tool(offered_to="user")
def set_data_roaming(db: Connection, on: bool) -> dict:
    """Turn data roaming on or off.

    Args:
        on: True to turn it on.
    """
    return change_setting(db, "data_roaming", on)


@tool(offered_to="user")
def set_mobile_data(db: Connection, on: bool) -> dict:
    """Turn mobile data on or off.

    Args:
        on: True to turn it on.
    """
    return change_setting(db, "mobile_data", on)


@tool(offered_to="user")
def set_data_saver(db: Connection, on: bool) -> dict:
    """Turn the data saver on or off.

    Args:
        on: True to turn it on.
    """
    return change_setting(db, "data_saver", on)


@tool(offered_to="user")
def set_network_mode(db: Connection, mode: Literal["2G", "3G", "4G", "5G"]) -> dict:
    """Choose the fastest network that the phone may use.

    Args:
        mode: The network.
    """
    return change_setting(db, "network_mode", mode)


@tool(offered_to="user")
def restart_phone(db: Connection) -> str:
    """Switch the phone off and start it again."""
    db.execute(text("UPDATE phone SET restarts = restarts + 1"))
    return "The phone is on again."


@tool(offered_to="nobody")
def set_phone(db: Connection, mobile_data: bool, network_mode: str) -> dict:
    """Give the phone the settings with which a task begins.

    Args:
        mobile_data: True for on.
        network_mode: The network.
    """
    mode = change_setting(db, "network_mode", network_mode)
    return change_setting(db, "mobile_data", mobile_data) | mode


@tool(offered_to="nobody", read_only=True)
def finds_data(db: Connection, abroad: bool) -> bool:
    """Tell whether the phone finds data.

    Args:
        abroad: True for another country.
    """
    found = row(db, "SELECT * FROM phone JOIN phone_lines USING (line_id)")
    roams = found["data_roaming"] and found["roaming"]
    return bool(found["mobile_data"] and (roams or not abroad))
