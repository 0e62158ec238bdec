"""The tools of the phone of tau2-bench's telecom customer, over tables."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import Row, change, first, rows
from envs.tools.tool import Audience, Tool

Mode = Literal["4g_5g_preferred", "4g_only", "3g_only", "2g_only"]
NETWORKS = {
    "2g_only": ("2G", "poor"),
    "3g_only": ("3G", "fair"),
    "4g_only": ("4G", "good"),
    "4g_5g_preferred": ("5G", "excellent"),
}
"""What the phone finds in a mode: a technology and the strength of its signal."""
MBPS = {"2G": 0.25, "3G": 3.0, "4G": 55.0, "5G": 275.0}
SHARE = {"poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
"""How much of the technology's speed a signal leaves."""
SPEEDS = ((1, "very poor"), (5, "poor"), (25, "fair"), (100, "good"))
"""What a speed below so many Mbps is called."""
RECONNECTS = {
    "sim_card_status", "sim_card_missing", "airplane_mode", "network_mode", "data_enabled",
    "roaming_enabled", "apn_name", "apn_reset_at_reboot", "restarts",
}  # fmt: skip
"""A change of these lets the phone look for its network."""
ACCESS = ("apn_name", "mmsc_url")
BAR = ("airplane_mode", "signal", "technology", "data_enabled", "data_saver", "vpn")


def phone(db: Connection) -> Row:
    """The phone with what its line and its messaging app allow."""
    (found,) = rows(
        db,
        "SELECT phone.*, lines.status AS line_status, lines.roaming_enabled AS line_roams,"
        " data_used_gb >= data_limit_gb + data_refueling_gb AS used_up,"
        " (SELECT COUNT(*) FROM permissions WHERE app_name = 'messaging' AND granted = 1"
        " AND permission IN ('sms', 'storage')) AS mms_permissions"
        " FROM phone LEFT JOIN lines ON lines.phone_number = phone.phone_number"
        " LEFT JOIN plans ON plans.plan_id = lines.plan_id",
    )
    return found


def shown(db: Connection, *columns: str) -> Row:
    """Columns of the phone; 0 and 1 are flags."""
    found = phone(db)
    return {name: bool(found[name]) if found[name] in (0, 1) else found[name] for name in columns}


def set_phone(db: Connection, **values: object) -> None:
    """Change settings, and look for the network where they matter for it."""
    if values.get("airplane_mode"):
        values["vpn"] = "off"
    change(db, f"UPDATE phone SET {', '.join(f'{name} = :{name}' for name in values)}", **values)
    if RECONNECTS.intersection(values):
        connect(db)


def connect(db: Connection) -> None:
    """Look for the network."""
    now = phone(db)
    serves = (
        now["sim_card_status"] == "active"
        and not (now["sim_card_missing"] or now["airplane_mode"])
        and now["apn_name"] != "broken"
        and now["line_status"] in (None, "Active")
    )
    technology, signal = NETWORKS[now["network_mode"]] if serves else ("none", "none")
    connection = "connected" if serves else "no_service"
    set_phone(db, connection=connection, technology=technology, signal=signal)


def data_works(now: Row) -> bool:
    roams = now["roaming_enabled"] and now["line_roams"]
    return bool(
        now["connection"] == "connected"
        and now["data_enabled"]
        and not now["used_up"]
        and (roams or not now["is_abroad"])
    )


def mms_works(now: Row) -> bool:
    return (
        data_works(now)
        and now["technology"] != "2G"
        and not (now["wifi_calling"] and now["mms_over_wifi"])
        and now["mmsc_url"] is not None
        and now["mms_permissions"] == 2
    )


def speed(now: Row) -> tuple[float, str]:
    """The Mbps of mobile data, and what such a speed is called."""
    if not data_works(now):
        return 0.0, "no connection"
    mbps = MBPS[now["technology"]] * SHARE[now["signal"]]
    mbps *= (0.1 if now["vpn"] == "poor" else 1) * (0.2 if now["data_saver"] else 1)
    return round(mbps, 2), next((word for limit, word in SPEEDS if mbps < limit), "excellent")


def due(db: Connection) -> Row | None:
    """The bill that the owner of the phone is asked to pay."""
    return first(
        db,
        "SELECT bill_id, total_due FROM bills WHERE status = 'Awaiting Payment' AND customer_id ="
        " (SELECT customer_id FROM lines JOIN phone USING (phone_number))",
    )


# Tools of the phone.


def reading(name: str, description: str, *columns: str) -> Tool:
    """A tool of the user that shows columns of the phone."""

    def show(db: Connection) -> Row:
        return shown(db, *columns)

    show.__doc__ = description
    return tool(show, name=name, offered_to="user", read_only=True)


def switch(name: str, description: str, column: str) -> Tool:
    """A tool of the user that turns a flag of the phone over."""

    def turn(db: Connection) -> Row:
        set_phone(db, **{column: int(not phone(db)[column])})
        return shown(db, column, *BAR)

    turn.__doc__ = description
    return tool(turn, name=name, offered_to="user")


def setting(whose: Audience, name: str, description: str, **values: object) -> Tool:
    """A tool that gives columns of the phone these values."""

    def put(db: Connection) -> Row:
        set_phone(db, **values)
        return shown(db, *BAR)

    put.__doc__ = description
    return tool(put, name=name, offered_to=whose)


check_status_bar = reading("check_status_bar", "Look at the status bar.", *BAR)
check_network_status = reading(
    "check_network_status",
    "Look at all that concerns the network: SIM card, connection, mobile data, roaming, Wi-Fi.",
    *("airplane_mode", "sim_card_missing", "sim_card_status", "connection", "signal"),
    *("technology", "data_enabled", "roaming_enabled", "wifi_enabled"),
)
check_network_mode_preference = reading(
    "check_network_mode_preference", "Look which networks the phone may use.", "network_mode"
)
check_sim_status = reading(
    "check_sim_status",
    "Look whether the SIM card is there and whether it is locked.",
    *("sim_card_missing", "sim_card_status"),
)
check_data_restriction_status = reading(
    "check_data_restriction_status", "Look whether the phone saves data.", "data_saver"
)
check_apn_settings = reading(
    "check_apn_settings", "Look at the access point and the address for MMS.", *ACCESS
)
check_wifi_status = reading("check_wifi_status", "Look whether Wi-Fi is on.", "wifi_enabled")
check_wifi_calling_status = reading(
    "check_wifi_calling_status", "Look whether calls go over Wi-Fi.", "wifi_calling"
)
check_vpn_status = reading(
    "check_vpn_status", "Look whether a VPN is on, and how fast it is.", "vpn"
)

toggle_airplane_mode = switch(
    "toggle_airplane_mode", "Turn airplane mode on, or off if it is on.", "airplane_mode"
)
toggle_data = switch("toggle_data", "Turn mobile data on, or off if it is on.", "data_enabled")
toggle_roaming = switch(
    "toggle_roaming", "Turn data roaming on, or off if it is on.", "roaming_enabled"
)
toggle_data_saver_mode = switch(
    "toggle_data_saver_mode", "Turn the data saver on, or off if it is on.", "data_saver"
)
toggle_wifi_calling = switch(
    "toggle_wifi_calling", "Turn calls over Wi-Fi on, or off if they are on.", "wifi_calling"
)

reseat_sim_card = setting(
    "user", "reseat_sim_card", "Take the SIM card out and put it back.", sim_card_missing=0
)
reset_apn_settings = setting(
    "user",
    "reset_apn_settings",
    "Have the next restart bring back the access point that the phone came with.",
    apn_reset_at_reboot=1,
)
disconnect_vpn = setting("user", "disconnect_vpn", "Leave the VPN.", vpn="off")


@tool(offered_to="user")
def connect_vpn(db: Connection) -> Row:
    """Join the VPN."""
    if phone(db)["vpn"] != "off":
        raise ToolError("The VPN is on already.", category="conflict")
    set_phone(db, vpn="excellent")
    return shown(db, *BAR)


@tool(offered_to="user")
def toggle_wifi(db: Connection) -> Row:
    """Turn Wi-Fi on, or off if it is on; not in airplane mode."""
    now = phone(db)
    if now["airplane_mode"]:
        raise ToolError("The phone is in airplane mode.", category="conflict")
    set_phone(db, wifi_enabled=int(not now["wifi_enabled"]))
    return shown(db, "wifi_enabled", *BAR)


@tool(offered_to="user")
def set_network_mode_preference(db: Connection, mode: Mode) -> Row:
    """Choose which networks the phone may use. The newer are the faster.

    Args:
        mode: The networks.
    """
    set_phone(db, network_mode=mode)
    return shown(db, "network_mode", *BAR)


@tool(offered_to="user")
def reboot_device(db: Connection) -> Row:
    """Turn the phone off and start it again."""
    now = phone(db)
    if now["apn_reset_at_reboot"]:
        set_phone(db, apn_reset_at_reboot=0, **{name: now[f"default_{name}"] for name in ACCESS})
    set_phone(db, restarts=now["restarts"] + 1)
    return shown(db, *BAR)


@tool(offered_to="user", read_only=True)
def run_speed_test(db: Connection) -> Row:
    """Measure how fast mobile data is."""
    mbps, word = speed(phone(db))
    return {"mbps": mbps, "speed": word}


@tool(offered_to="user", read_only=True)
def can_send_mms(db: Connection) -> Row:
    """Try whether a picture message leaves the phone."""
    return {"can_send_mms": mms_works(phone(db))}


@tool(offered_to="user", read_only=True)
def check_installed_apps(db: Connection) -> list[str]:
    """List the apps on the phone."""
    found = rows(db, "SELECT DISTINCT app_name FROM permissions ORDER BY app_name")
    return [row["app_name"] for row in found]


@tool(offered_to="user", read_only=True)
def check_app_permissions(db: Connection, app_name: str) -> Row:
    """Look what an app may use.

    Args:
        app_name: The app.
    """
    found = rows(
        db,
        "SELECT permission, granted FROM permissions WHERE app_name = :app ORDER BY permission",
        app=app_name,
    )
    if not found:
        raise ToolError(f"No app {app_name}.", category="not_found")
    return {row["permission"]: bool(row["granted"]) for row in found}


@tool(offered_to="user")
def grant_app_permission(db: Connection, app_name: str, permission: str) -> Row:
    """Let an app use something of the phone, such as its storage.

    Args:
        app_name: The app.
        permission: What it may use, in lower case.
    """
    return permit(db, app_name, permission, granted=1)


@tool(offered_to="user", read_only=True)
def check_payment_request(db: Connection) -> Row:
    """Look whether the company asks for the payment of a bill."""
    return due(db) or {"bill_id": "none"}


@tool(offered_to="user")
def make_payment(db: Connection) -> Row:
    """Pay the bill that the company asks for."""
    found = due(db)
    if found is None:
        raise ToolError("No bill awaits its payment.", category="not_found")
    change(
        db, "UPDATE bills SET status = 'Paid' WHERE bill_id = :bill_id", bill_id=found["bill_id"]
    )
    return {"paid_bill_id": found["bill_id"], "amount": found["total_due"]}


def permit(db: Connection, app_name: str, permission: str, *, granted: int) -> Row:
    of = "WHERE app_name = :app AND permission = :permission"
    binds = {"app": app_name, "permission": permission.lower()}
    if first(db, f"SELECT 1 FROM permissions {of}", **binds) is None:
        raise ToolError(f"{app_name} has no permission {permission}.", category="not_found")
    change(db, f"UPDATE permissions SET granted = :granted {of}", granted=granted, **binds)
    return {"app_name": app_name, binds["permission"]: bool(granted)}


# Tools of nobody: how a task begins.

turn_airplane_mode_on = setting(
    "nobody", "turn_airplane_mode_on", "Airplane mode is on.", airplane_mode=1
)
turn_roaming_on = setting("nobody", "turn_roaming_on", "Roaming is on.", roaming_enabled=1)
turn_roaming_off = setting("nobody", "turn_roaming_off", "Roaming is off.", roaming_enabled=0)
turn_data_off = setting("nobody", "turn_data_off", "Mobile data is off.", data_enabled=0)
turn_data_saver_mode_on = setting(
    "nobody", "turn_data_saver_mode_on", "The data saver is on.", data_saver=1
)
unseat_sim_card = setting("nobody", "unseat_sim_card", "No SIM card is in.", sim_card_missing=1)
break_apn_settings = setting(
    "nobody", "break_apn_settings", "The access point is wrong.", apn_name="broken"
)
break_apn_mms_setting = setting(
    "nobody", "break_apn_mms_setting", "No address for MMS is set.", mmsc_url=None
)
break_vpn = setting("nobody", "break_vpn", "A slow VPN is on.", vpn="poor")


@tool(offered_to="nobody")
def simulate_network_search(db: Connection) -> None:
    """Let the phone look for its network."""
    connect(db)


@tool(offered_to="nobody")
def lock_sim_card(db: Connection, mode: Literal["pin", "puk"]) -> None:
    """The SIM card is locked.

    Args:
        mode: The code that would unlock it.
    """
    set_phone(db, sim_card_status=f"locked_{mode}")


@tool(offered_to="nobody")
def set_wifi_calling(db: Connection, enabled: bool, mms_over_wifi: bool | None = None) -> None:
    """Calls go over Wi-Fi or not.

    Args:
        enabled: True if they do.
        mms_over_wifi: Whether MMS do so as well; it stays as it is if not given.
    """
    also = {} if mms_over_wifi is None else {"mms_over_wifi": int(mms_over_wifi)}
    set_phone(db, wifi_calling=int(enabled), **also)


@tool(offered_to="nobody")
def set_user_info(db: Connection, name: str, phone_number: str) -> None:
    """The phone is this person's.

    Args:
        name: The owner.
        phone_number: The number.
    """
    set_phone(db, owner=name, phone_number=phone_number)


@tool(offered_to="nobody")
def set_user_location(db: Connection, abroad: bool) -> None:
    """The phone is in its own or in another country.

    Args:
        abroad: True for another country.
    """
    set_phone(db, is_abroad=int(abroad))


@tool(offered_to="nobody")
def remove_app_permission(db: Connection, app_name: str, permission: str) -> None:
    """An app may not use something of the phone.

    Args:
        app_name: The app.
        permission: What it may not use.
    """
    permit(db, app_name, permission, granted=0)


# Tools of nobody: how a task ends.


@tool(offered_to="nobody", read_only=True)
def assert_can_send_mms(db: Connection, expected_status: bool) -> bool:
    """Tell whether picture messages leave the phone.

    Args:
        expected_status: False to tell the opposite.
    """
    return mms_works(phone(db)) == expected_status


@tool(offered_to="nobody", read_only=True)
def assert_mobile_data_status(db: Connection, expected_status: bool) -> bool:
    """Tell whether mobile data works.

    Args:
        expected_status: False to tell the opposite.
    """
    return data_works(phone(db)) == expected_status


@tool(offered_to="nobody", read_only=True)
def assert_service_status(db: Connection, expected_status: str) -> bool:
    """Tell whether the phone's connection is this one.

    Args:
        expected_status: The connection.
    """
    return phone(db)["connection"] == expected_status


@tool(offered_to="nobody", read_only=True)
def assert_internet_speed(
    db: Connection, expected_speed: float, expected_desc: str | None = None
) -> bool:
    """Tell whether mobile data is so fast.

    Args:
        expected_speed: The least Mbps.
        expected_desc: What the speed is called.
    """
    mbps, word = speed(phone(db))
    return mbps >= expected_speed and (expected_desc or word).lower() == word
