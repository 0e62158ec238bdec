from typing import Literal

from sqlalchemy import Connection, text

from envs import ToolError, tool


def row(db: Connection, sql: str, **binds: object) -> dict:
    found = db.execute(text(sql), binds).mappings().first()
    if found is None:
        raise ToolError("There is no such line.", category="not_found")
    return dict(found)


@tool(read_only=True)
def find_line(db: Connection, phone_number: str) -> dict:
    """Find a line and its plan.

    Args:
        phone_number: As the customer says it.
    """
    sql = (
        "SELECT line_id, owner, name AS plan, roaming, extra_gigabytes, sim"
        " FROM lines JOIN plans USING (plan_id) WHERE number = :number"
    )
    return row(db, sql, number=phone_number)


@tool
def allow_roaming(db: Connection, line_id: int) -> dict:
    """Let a line use the networks of other countries.

    Args:
        line_id: The line.
    """
    sql = "UPDATE lines SET roaming = 1 WHERE line_id = :line RETURNING line_id, roaming"
    return row(db, sql, line=line_id)


@tool
def add_gigabytes(db: Connection, line_id: int, gigabytes: int) -> dict:
    """Add data to a line for this month.

    Args:
        line_id: The line.
        gigabytes: How many gigabytes.
    """
    sql = (
        "UPDATE lines SET extra_gigabytes = extra_gigabytes + :more WHERE line_id = :line"
        " RETURNING line_id, extra_gigabytes"
    )
    return row(db, sql, line=line_id, more=gigabytes)


@tool
def change_sim(db: Connection, line_id: int, sim: int) -> dict:
    """Move a line to another SIM card.

    Args:
        line_id: The line.
        sim: The number on the new card.
    """
    sql = "UPDATE lines SET sim = :sim WHERE line_id = :line RETURNING line_id, sim"
    return row(db, sql, line=line_id, sim=sim)


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
    return row(db, "UPDATE phone SET data_roaming = :on RETURNING data_roaming", on=on)


@tool(offered_to="user")
def set_mobile_data(db: Connection, on: bool) -> dict:
    """Turn mobile data on or off.

    Args:
        on: True to turn it on.
    """
    return row(db, "UPDATE phone SET mobile_data = :on RETURNING mobile_data", on=on)


@tool(offered_to="user")
def set_data_saver(db: Connection, on: bool) -> dict:
    """Turn the data saver on or off.

    Args:
        on: True to turn it on.
    """
    return row(db, "UPDATE phone SET data_saver = :on RETURNING data_saver", on=on)


@tool(offered_to="user")
def set_network_mode(db: Connection, mode: Literal["2G", "3G", "4G", "5G"]) -> dict:
    """Choose the fastest network that the phone may use.

    Args:
        mode: The network.
    """
    return row(db, "UPDATE phone SET network_mode = :mode RETURNING network_mode", mode=mode)


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
    sql = (
        "UPDATE phone SET mobile_data = :data, network_mode = :mode"
        " RETURNING mobile_data, network_mode"
    )
    return row(db, sql, data=mobile_data, mode=network_mode)


@tool(offered_to="nobody", read_only=True)
def finds_data(db: Connection, abroad: bool) -> bool:
    """Tell whether the phone finds data.

    Args:
        abroad: True for another country.
    """
    found = row(db, "SELECT * FROM phone JOIN lines USING (line_id)")
    roams = found["data_roaming"] and found["roaming"]
    return bool(found["mobile_data"] and (roams or not abroad))
