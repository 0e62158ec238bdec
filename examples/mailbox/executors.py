"""The tools of the mailbox, in the order in which a model is shown them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import Row, change, first, fold, rows, timestamp, words_condition

OWN = "office@larkspur.example"
MATCHES = 25
"""Mails that a search shows at most; their number beside them lets the caller narrow it."""

Words = Annotated[str, {"minLength": 1, "maxLength": 120}]
Wanted = Annotated[str | None, {"minLength": 1, "maxLength": 120}]
Body = Annotated[str, {"minLength": 1, "maxLength": 1000}]
Addresses = Annotated[list[str], {"minItems": 1, "maxItems": 20}]
Note = Annotated[str | None, {"minLength": 1, "maxLength": 1000}]
Day = Annotated[str | None, {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}]
Folder = Literal["inbox", "archive", "sent", "drafts"]
Label = Literal["answered", "hold", "invoice", "to_do"]

_LISTED = (
    "SELECT m.mail_id, t.subject, m.sender, m.folder, m.sent_at, m.unread,"
    " EXISTS (SELECT 1 FROM mail_labels l WHERE l.mail_id = m.mail_id AND l.label = 'answered') AS answered,"
    " EXISTS (SELECT 1 FROM mail_labels l WHERE l.mail_id = m.mail_id AND l.label = 'hold') AS hold"
    " FROM mails m JOIN threads t ON t.thread_id = m.thread_id"
)
_NEWEST = " ORDER BY COALESCE(m.sent_at, '9999'), m.mail_id"


@tool(read_only=True)
def find_contacts(db: Connection, query: Words) -> dict[str, Any]:
    """Find contacts by name or e-mail address; several people may match.

    Args:
        query: A whole e-mail address, or a name or a part of it.
    """
    if "@" in query:
        condition, binds = "email = :email", {"email": query.strip().lower()}
    else:
        condition, binds = words_condition("name_folded", query)
    found = rows(
        db,
        f"SELECT contact_id, name, email, company FROM contacts WHERE {condition}"
        " ORDER BY contact_id",
        **binds,
    )
    return {"count": len(found), "contacts": found[:MATCHES]}


@tool(read_only=True)
def find_mails(
    db: Connection,
    subject: Wanted = None,
    sender: Wanted = None,
    folder: Folder | None = None,
    unread: bool | None = None,
    since: Day = None,
) -> dict[str, Any]:
    """Find mails, oldest first, with their number. All conditions that are given must hold.

    Args:
        subject: Words of the subject, in any order and case.
        sender: The whole address of the sender.
        folder: Only mails of this folder.
        unread: Only mails that are unread, or that are not.
        since: Only mails sent on this day (YYYY-MM-DD) or later.
    """
    conditions = {
        "m.sender = :sender": sender and sender.strip().lower(),
        "m.folder = :folder": folder,
        "m.unread = :unread": None if unread is None else int(unread),
        "m.sent_at >= :since": since,
    }
    asked = {text: value for text, value in conditions.items() if value is not None}
    where = f" WHERE {' AND '.join(asked)}" if asked else ""
    binds = {text.rpartition(":")[2]: value for text, value in asked.items()}
    words = fold(subject or "").split()
    found = [
        _shown(each)
        for each in rows(db, _LISTED + where + _NEWEST, **binds)
        if all(word in fold(each["subject"]).split() for word in words)
    ]
    return {"count": len(found), "mails": found[:MATCHES]}


@tool(read_only=True)
def get_mail(db: Connection, mail_id: int) -> dict[str, Any]:
    """Return a mail with its text, its recipients and the other mails of its thread.

    Args:
        mail_id: The mail's id, as find_mails gives it.
    """
    mail = _require_mail(db, mail_id)
    others = rows(
        db,
        "SELECT mail_id, sender, sent_at FROM mails WHERE thread_id = :thread AND mail_id <> :id"
        " ORDER BY mail_id",
        thread=mail.pop("thread_id"),
        id=mail_id,
    )
    return _shown(mail) | {"recipients": _recipients(db, mail_id), "thread": others}


@tool
def reply_mail(db: Connection, mail_id: int, body: Body, to_all: bool = False) -> dict[str, Any]:
    """Answer a mail in its thread.

    Args:
        mail_id: The mail that is answered.
        body: The text of the answer.
        to_all: Send it to the other recipients of the mail, too, as copies.
    """
    mail = _require_mail(db, mail_id)
    others = [each["email"] for each in _recipients(db, mail_id)] if to_all else []
    copies = [email for email in others if email not in {OWN, mail["sender"]}]
    return _sent(db, mail["thread_id"], body, [mail["sender"]], copies)


@tool
def forward_mail(db: Connection, mail_id: int, to: Addresses, note: Note = None) -> dict[str, Any]:
    """Forward a mail, in its thread.

    Args:
        mail_id: The mail that is forwarded.
        to: The addresses that it goes to.
        note: What is written above it, if anything is.
    """
    mail = _require_mail(db, mail_id)
    return _sent(db, mail["thread_id"], note or "Forwarded.", to, forwards=mail_id)


@tool
def send_mail(db: Connection, to: Addresses, subject: Words, body: Body) -> dict[str, Any]:
    """Send a new mail, which begins a thread.

    Args:
        to: The addresses that it goes to.
        subject: The subject.
        body: The text.
    """
    return _sent(db, _thread(db, subject), body, to)


@tool
def save_draft(db: Connection, to: Addresses, subject: Words, body: Body) -> dict[str, Any]:
    """Save a new mail as a draft, which is not sent.

    Args:
        to: The addresses that it would go to.
        subject: The subject.
        body: The text.
    """
    return _sent(db, _thread(db, subject), body, to, folder="drafts")


@tool
def send_draft(db: Connection, mail_id: int) -> dict[str, Any]:
    """Send a draft as it is. Refused (`conflict`) for any other mail.

    Args:
        mail_id: The draft's id.
    """
    mail = _require_mail(db, mail_id)
    if mail["folder"] != "drafts":
        raise ToolError(f"Mail {mail_id} is not a draft.", category="conflict")
    change(
        db,
        "UPDATE mails SET folder = 'sent', sent_at = :moment WHERE mail_id = :id",
        moment=timestamp(db),
        id=mail_id,
    )
    to = [each["email"] for each in _recipients(db, mail_id)]
    return {"mail_id": mail_id, "subject": mail["subject"], "to": to}


@tool
def label_mail(db: Connection, mail_id: int, label: Label) -> dict[str, Any]:
    """Put a label on a mail.

    Args:
        mail_id: The mail's id.
        label: The label.
    """
    _require_mail(db, mail_id)
    known = first(
        db,
        "SELECT label FROM mail_labels WHERE mail_id = :id AND label = :label",
        id=mail_id,
        label=label,
    )
    if known is None:
        change(
            db,
            "INSERT INTO mail_labels (mail_id, label) VALUES (:id, :label)",
            id=mail_id,
            label=label,
        )
    return {"mail_id": mail_id, "label": label}


@tool
def move_mail(db: Connection, mail_id: int, folder: Literal["inbox", "archive"]) -> dict[str, Any]:
    """Move a mail that was received to the archive, or back to the inbox.

    Args:
        mail_id: The mail's id.
        folder: Where it goes.
    """
    if _require_mail(db, mail_id)["folder"] not in {"inbox", "archive"}:
        raise ToolError(f"Mail {mail_id} was not received.", category="conflict")
    change(db, "UPDATE mails SET folder = :folder WHERE mail_id = :id", folder=folder, id=mail_id)
    return {"mail_id": mail_id, "folder": folder}


def _require_mail(db: Connection, mail_id: int) -> Row:
    found = first(
        db,
        "SELECT m.mail_id, m.thread_id, t.subject, m.sender, m.folder, m.sent_at, m.unread, m.body, m.forwards,"
        " EXISTS (SELECT 1 FROM mail_labels l WHERE l.mail_id = m.mail_id AND l.label = 'answered') AS answered,"
        " EXISTS (SELECT 1 FROM mail_labels l WHERE l.mail_id = m.mail_id AND l.label = 'hold') AS hold"
        " FROM mails m JOIN threads t ON t.thread_id = m.thread_id WHERE m.mail_id = :id",
        id=mail_id,
    )
    if found is None:
        raise ToolError(f"There is no mail with the id {mail_id}.", category="not_found")
    return found


def _shown(mail: Row) -> Row:
    return mail | {name: bool(mail[name]) for name in ("unread", "answered", "hold")}


def _recipients(db: Connection, mail_id: int) -> list[Row]:
    return rows(
        db,
        "SELECT email, kind FROM recipients WHERE mail_id = :id ORDER BY kind DESC, email",
        id=mail_id,
    )


def _thread(db: Connection, subject: str) -> int:
    made = first(
        db, "INSERT INTO threads (subject) VALUES (:subject) RETURNING thread_id", subject=subject
    )
    return (made or {})["thread_id"]


def _sent(
    db: Connection,
    thread_id: int,
    body: str,
    to: list[str],
    copies: list[str] | None = None,
    folder: str = "sent",
    forwards: int | None = None,
) -> dict[str, Any]:
    made = first(
        db,
        "INSERT INTO mails (thread_id, folder, sender, body, sent_at, unread, forwards)"
        " VALUES (:thread, :folder, :sender, :body, :moment, 0, :forwards) RETURNING mail_id",
        thread=thread_id,
        folder=folder,
        sender=OWN,
        body=body,
        moment=None if folder == "drafts" else timestamp(db),
        forwards=forwards,
    )
    mail_id = (made or {})["mail_id"]
    kinds = dict.fromkeys(map(_address, copies or ()), "cc")
    kinds |= dict.fromkeys(map(_address, to), "to")
    for email, kind in kinds.items():
        change(
            db,
            "INSERT INTO recipients (mail_id, email, kind) VALUES (:id, :email, :kind)",
            id=mail_id,
            email=email,
            kind=kind,
        )
    return {"mail_id": mail_id, "folder": folder, "to": list(kinds)}


def _address(text: str) -> str:
    if "@" not in text:
        raise ToolError(f"{text!r} is not an e-mail address.", category="invalid")
    return text.strip().lower()
