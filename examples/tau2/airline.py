"""The tools of tau2-bench's airline, over tables."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import Row, change, first, rows, timestamp

Cabin = Literal["basic_economy", "economy", "business"]
Day = Annotated[str, {"pattern": r"^\d{4}-\d\d-\d\d$"}]
TEXT = {"type": "string"}


def objects(**properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a list of objects that have all these properties and no others."""
    item = {"type": "object", "properties": properties, "required": [*properties]}
    return {"type": "array", "minItems": 1, "items": {**item, "additionalProperties": False}}


Flights = Annotated[list, objects(flight_number=TEXT, date=TEXT)]
People = Annotated[list, objects(first_name=TEXT, last_name=TEXT, dob=TEXT)]
Payments = Annotated[list, objects(payment_id=TEXT, amount={"type": "integer"})]

BAG, INSURANCE = 50, 30
"""Dollars for a bag that is not free, and for the insurance of a passenger."""
NEW_RESERVATIONS = ("HATHAT", "HATHAU", "HATHAV")
NEW_CERTIFICATES = ("certificate_3221322", "certificate_3221323", "certificate_3221324")


@tool(read_only=True)
def get_user_details(db: Connection, user_id: str) -> dict[str, Any]:
    """Show a customer: profile, payment methods, saved passengers and numbers of reservations.

    Args:
        user_id: The customer's id, for example sara_doe_496.
    """
    user = require_user(db, user_id)
    return {
        "user_id": user_id,
        "name": {key: user[key] for key in ("first_name", "last_name")},
        "address": {
            key: user[key] for key in ("address1", "address2", "city", "country", "state", "zip")
        },
        "email": user["email"],
        "dob": user["dob"],
        "membership": user["membership"],
        "payment_methods": [
            {key: value for key, value in method.items() if value is not None}
            for method in rows(
                db,
                "SELECT id, source, brand, last_four, amount FROM payment_methods"
                " WHERE user_id = :user ORDER BY id",
                user=user_id,
            )
        ],
        "saved_passengers": rows(
            db,
            "SELECT first_name, last_name, dob FROM saved_passengers WHERE user_id = :user"
            " ORDER BY position",
            user=user_id,
        ),
        "reservations": [
            found["reservation_id"]
            for found in rows(
                db,
                "SELECT reservation_id FROM reservations WHERE user_id = :user"
                " ORDER BY created_at, reservation_id",
                user=user_id,
            )
        ],
    }


@tool(read_only=True)
def get_reservation_details(db: Connection, reservation_id: str) -> dict[str, Any]:
    """Show a reservation: its flights, passengers, bags and payments.

    Args:
        reservation_id: The reservation's number, for example ZFA04Y.
    """
    return details(db, reservation_id)


@tool(read_only=True)
def list_all_airports(db: Connection) -> list[Row]:
    """List the airports that are flown to, with their cities."""
    return rows(db, "SELECT iata, city FROM airports ORDER BY iata")


@tool(read_only=True)
def get_flight_status(db: Connection, flight_number: str, date: Day) -> dict[str, Any]:
    """Say whether a flight is available, delayed, on its way, landed or cancelled on a day.

    Args:
        flight_number: The flight's number.
        date: The day, YYYY-MM-DD.
    """
    return {"status": require_flight(db, flight_number, date)["status"]}


@tool(read_only=True)
def search_direct_flight(db: Connection, origin: str, destination: str, date: Day) -> list[Row]:
    """Find direct flights that can be booked on a day.

    Args:
        origin: The airport's three letters, for example JFK.
        destination: The airport's three letters, for example LAX.
        date: The day, YYYY-MM-DD.
    """
    return bookable(db, "f.origin = :origin AND f.destination = :destination", date,
                    origin=origin, destination=destination)  # fmt: skip


@tool(read_only=True)
def search_onestop_flight(
    db: Connection, origin: str, destination: str, date: Day
) -> list[list[Row]]:
    """Find pairs of flights with one stop that can be booked.

    Args:
        origin: The airport's three letters, for example JFK.
        destination: The airport's three letters, for example LAX.
        date: The day of the first flight, YYYY-MM-DD.
    """
    found: list[list[Row]] = []
    for one in bookable(db, "f.origin = :origin", date, origin=origin):
        arrives, _, late = one["arrives"].partition("+")
        day = next_day(db, date) if late else date
        found += [
            [one | {"date": date}, two | {"date": day}]
            for two in bookable(
                db,
                "f.origin = :stop AND f.destination = :destination AND f.departs >= :arrives",
                day,
                stop=one["destination"],
                destination=destination,
                arrives=arrives,
            )
        ]
    return found


@tool
def send_certificate(db: Connection, user_id: str, amount: int) -> dict[str, Any]:
    """Give a customer a travel certificate. Take care: it is money.

    Args:
        user_id: The customer's id.
        amount: Its value in dollars.
    """
    require_user(db, user_id)
    for number in NEW_CERTIFICATES:
        if not method(db, user_id, number):
            change(
                db,
                "INSERT INTO payment_methods (user_id, id, source, amount)"
                " VALUES (:user, :id, 'certificate', :amount)",
                user=user_id,
                id=number,
                amount=amount,
            )
            return {"certificate": number, "user_id": user_id, "amount": amount}
    raise ToolError("This customer was given too many certificates.", category="conflict")


@tool
def book_reservation(
    db: Connection,
    user_id: str,
    origin: str,
    destination: str,
    flight_type: Literal["one_way", "round_trip"],
    cabin: Cabin,
    flights: Flights,
    passengers: People,
    payment_methods: Payments,
    total_baggages: int,
    nonfree_baggages: int,
    insurance: Literal["yes", "no"],
) -> dict[str, Any]:
    """Book flights for one or more passengers.

    Args:
        user_id: The customer's id.
        origin: The airport's three letters, for example SFO.
        destination: The airport's three letters, for example JFK.
        flight_type: One way or a round trip.
        cabin: The cabin, the same on all flights.
        flights: All flights in their order, with their days.
        passengers: All passengers.
        payment_methods: What is paid with which method; together exactly the price.
        total_baggages: The number of checked bags.
        nonfree_baggages: How many of them are paid for.
        insurance: Whether the passengers are insured.
    """
    require_user(db, user_id)
    number = next(
        (free for free in NEW_RESERVATIONS if not reservation(db, free)), None
    )  # what the benchmark counts with
    if number is None:
        raise ToolError("No more reservations can be made.", category="conflict")
    chosen = [fare(db, flight, cabin, len(passengers)) for flight in flights]
    price = len(passengers) * (
        sum(flight["price"] for flight in chosen) + INSURANCE * (insurance == "yes")
    )
    price += BAG * nonfree_baggages
    for payment in payment_methods:
        kept = method(db, user_id, payment["payment_id"])
        if kept is None:
            raise ToolError(f"No payment method {payment['payment_id']}.", category="not_found")
        if kept["amount"] is not None and kept["amount"] < payment["amount"]:
            raise ToolError(f"{kept['id']} holds only {kept['amount']}.", category="conflict")
    paid = sum(payment["amount"] for payment in payment_methods)
    if paid != price:
        raise ToolError(f"The price is {price}, and {paid} is paid.", category="conflict")
    for payment in payment_methods:
        spend(db, user_id, payment["payment_id"], payment["amount"])
    change(
        db,
        "INSERT INTO reservations (reservation_id, user_id, origin, destination, flight_type,"
        " cabin, created_at, total_baggages, nonfree_baggages, insurance) VALUES (:number, :user,"
        " :origin, :destination, :type, :cabin, :now, :bags, :paid_bags, :insurance)",
        number=number,
        user=user_id,
        origin=origin,
        destination=destination,
        type=flight_type,
        cabin=cabin,
        now=timestamp(db).replace(" ", "T"),
        bags=total_baggages,
        paid_bags=nonfree_baggages,
        insurance=insurance,
    )
    for flight in chosen:
        change(
            db,
            "UPDATE fares SET seats = seats - :people WHERE flight_number = :number"
            " AND date = :date AND cabin = :cabin",
            people=len(passengers),
            number=flight["flight_number"],
            date=flight["date"],
            cabin=cabin,
        )
    write_flights(db, number, chosen)
    write_passengers(db, number, passengers)
    for payment in payment_methods:
        write_payment(db, number, payment["payment_id"], payment["amount"])
    return details(db, number)


@tool
def cancel_reservation(db: Connection, reservation_id: str) -> dict[str, Any]:
    """Cancel a whole reservation; what was paid goes back.

    Args:
        reservation_id: The reservation's number.
    """
    for payment in details(db, reservation_id)["payment_history"]:
        write_payment(db, reservation_id, payment["payment_id"], -payment["amount"])
    change(
        db,
        "UPDATE reservations SET status = 'cancelled' WHERE reservation_id = :id",
        id=reservation_id,
    )
    return details(db, reservation_id)


@tool
def update_reservation_baggages(
    db: Connection,
    reservation_id: str,
    total_baggages: int,
    nonfree_baggages: int,
    payment_id: str,
) -> dict[str, Any]:
    """Change the number of checked bags of a reservation.

    Args:
        reservation_id: The reservation's number.
        total_baggages: The number of bags from now on.
        nonfree_baggages: How many of them are paid for.
        payment_id: A payment method of the customer, for what is due.
    """
    kept = details(db, reservation_id)
    due = BAG * max(0, nonfree_baggages - kept["nonfree_baggages"])
    pay_change(db, kept, payment_id, due)
    change(
        db,
        "UPDATE reservations SET total_baggages = :bags, nonfree_baggages = :paid"
        " WHERE reservation_id = :id",
        bags=total_baggages,
        paid=nonfree_baggages,
        id=reservation_id,
    )
    return details(db, reservation_id)


@tool
def update_reservation_flights(
    db: Connection, reservation_id: str, cabin: Cabin, flights: Flights, payment_id: str
) -> dict[str, Any]:
    """Change the flights or the cabin of a reservation. A difference in price is paid or refunded.

    Args:
        reservation_id: The reservation's number.
        cabin: The cabin from now on, the same on all flights.
        flights: All flights from now on, also those that stay.
        payment_id: A payment method of the customer, for the difference.
    """
    kept = details(db, reservation_id)
    people = len(kept["passengers"])
    same = {(flight["flight_number"], flight["date"]): flight for flight in kept["flights"]}
    chosen = [
        same.get((flight["flight_number"], flight["date"])) if cabin == kept["cabin"] else None
        for flight in flights
    ]
    chosen = [
        old or fare(db, flight, cabin, people) for old, flight in zip(chosen, flights, strict=True)
    ]
    price = sum(flight["price"] for flight in chosen)
    due = people * (price - sum(flight["price"] for flight in kept["flights"]))
    pay_change(db, kept, payment_id, due)
    change(db, "DELETE FROM reservation_flights WHERE reservation_id = :id", id=reservation_id)
    write_flights(db, reservation_id, chosen)
    change(
        db,
        "UPDATE reservations SET cabin = :cabin WHERE reservation_id = :id",
        cabin=cabin,
        id=reservation_id,
    )
    return details(db, reservation_id)


@tool
def update_reservation_passengers(
    db: Connection, reservation_id: str, passengers: People
) -> dict[str, Any]:
    """Replace the passengers of a reservation by as many others.

    Args:
        reservation_id: The reservation's number.
        passengers: All passengers from now on.
    """
    kept = details(db, reservation_id)
    if len(kept["passengers"]) != len(passengers):
        raise ToolError("The number of passengers cannot change.", category="conflict")
    change(db, "DELETE FROM passengers WHERE reservation_id = :id", id=reservation_id)
    write_passengers(db, reservation_id, passengers)
    return details(db, reservation_id)


def require_user(db: Connection, user_id: str) -> Row:
    found = first(db, "SELECT * FROM users WHERE user_id = :id", id=user_id)
    if found is None:
        raise ToolError(f"No customer {user_id}.", category="not_found")
    return found


def require_flight(db: Connection, number: str, date: str) -> Row:
    sql = (
        "SELECT flight_number, date, status, origin, destination FROM flight_days"
        " JOIN flights USING (flight_number) WHERE flight_number = :number AND date = :date"
    )
    found = first(db, sql, number=number, date=date)
    if found is None:
        raise ToolError(f"No flight {number} on {date}.", category="not_found")
    return found


def reservation(db: Connection, number: str) -> Row | None:
    return first(db, "SELECT * FROM reservations WHERE reservation_id = :id", id=number)


def method(db: Connection, user_id: str, payment_id: str) -> Row | None:
    sql = "SELECT * FROM payment_methods WHERE user_id = :user AND id = :id"
    return first(db, sql, user=user_id, id=payment_id)


def details(db: Connection, number: str) -> Row:
    """A reservation with all that belongs to it."""
    found = reservation(db, number)
    if found is None:
        raise ToolError(f"No reservation {number}.", category="not_found")
    of = "WHERE reservation_id = :id ORDER BY position"
    return found | {
        "flights": rows(
            db,
            f"SELECT flight_number, date, origin, destination, price FROM reservation_flights {of}",
            id=number,
        ),
        "passengers": rows(
            db, f"SELECT first_name, last_name, dob FROM passengers {of}", id=number
        ),
        "payment_history": rows(db, f"SELECT payment_id, amount FROM payments {of}", id=number),
    }


def bookable(db: Connection, where: str, date: str, **binds: str) -> list[Row]:
    """Flights that have fares on a day, with seats and prices by cabin."""
    found = rows(
        db,
        "SELECT f.flight_number, f.origin, f.destination, f.departs, f.arrives, d.status"
        " FROM flights f JOIN flight_days d ON d.flight_number = f.flight_number"
        f" WHERE d.date = :date AND d.status = 'available' AND {where} ORDER BY f.flight_number",
        date=date,
        **binds,
    )
    for flight in found:
        fares = rows(
            db,
            "SELECT cabin, seats, price FROM fares WHERE flight_number = :number AND date = :date",
            number=flight["flight_number"],
            date=date,
        )
        flight["available_seats"] = {row["cabin"]: row["seats"] for row in fares}
        flight["prices"] = {row["cabin"]: row["price"] for row in fares}
    return found


def fare(db: Connection, flight: Row, cabin: str, people: int) -> Row:
    """A flight with its price in a cabin, where so many seats are free."""
    found = require_flight(db, flight["flight_number"], flight["date"])
    known = first(
        db,
        "SELECT seats, price FROM fares WHERE flight_number = :number AND date = :date"
        " AND cabin = :cabin",
        number=flight["flight_number"],
        date=flight["date"],
        cabin=cabin,
    )
    if found["status"] != "available" or known is None:
        raise ToolError(f"{flight['flight_number']} cannot be booked.", category="conflict")
    if known["seats"] < people:
        raise ToolError(f"{flight['flight_number']} has not the seats.", category="conflict")
    return found | {"price": known["price"]}


def pay_change(db: Connection, kept: Row, payment_id: str, due: int) -> None:
    """Pay a difference in price with a card or a gift card of the customer."""
    paying = method(db, kept["user_id"], payment_id)
    if paying is None:
        raise ToolError(f"No payment method {payment_id}.", category="not_found")
    if paying["source"] == "certificate":
        raise ToolError("A change cannot be paid with a certificate.", category="conflict")
    if paying["source"] == "gift_card":
        if paying["amount"] < due:
            raise ToolError("The gift card holds too little.", category="conflict")
        spend(db, kept["user_id"], payment_id, due)
    if due:
        write_payment(db, kept["reservation_id"], payment_id, due)


def spend(db: Connection, user_id: str, payment_id: str, amount: int) -> None:
    """Take money from a gift card; a certificate is used up."""
    of = "user_id = :user AND id = :id"
    change(
        db,
        f"UPDATE payment_methods SET amount = amount - :amount WHERE {of} AND source = 'gift_card'",
        user=user_id,
        id=payment_id,
        amount=amount,
    )
    change(
        db,
        f"DELETE FROM payment_methods WHERE {of} AND source = 'certificate'",
        user=user_id,
        id=payment_id,
    )


def write_flights(db: Connection, number: str, flights: list[Row]) -> None:
    for position, flight in enumerate(flights):
        change(
            db,
            "INSERT INTO reservation_flights VALUES (:id, :position, :number, :date, :origin,"
            " :destination, :price)",
            id=number,
            position=position,
            number=flight["flight_number"],
            **{key: flight[key] for key in ("date", "origin", "destination", "price")},
        )


def write_passengers(db: Connection, number: str, passengers: list[Row]) -> None:
    for position, person in enumerate(passengers):
        change(
            db,
            "INSERT INTO passengers VALUES (:id, :position, :first_name, :last_name, :dob)",
            id=number,
            position=position,
            **person,
        )


def write_payment(db: Connection, number: str, payment_id: str, amount: int) -> None:
    change(
        db,
        "INSERT INTO payments SELECT :id, COUNT(*), :payment, :amount FROM payments"
        " WHERE reservation_id = :id",
        id=number,
        payment=payment_id,
        amount=amount,
    )


def next_day(db: Connection, date: str) -> str:
    (day,) = db.exec_driver_sql("SELECT date(?, '+1 day')", (date,)).one()
    return day
