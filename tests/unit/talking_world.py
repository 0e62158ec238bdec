"""The small world with families whose user answers: one is asked and agrees, one declines in one of
its cases.
"""

from __future__ import annotations

from pathlib import Path

from tests.unit import small_world

TASKS = """\
now: "2026-03-02T09:00:00"
families:
- id: plan_asked
  ground: {key: item_id, sql: "SELECT item_id, name, price FROM items"}
  vary: {day: {date: ["2026-04-01", "2026-04-20"]}}
  user:
    says: ["Plan {name} for me."]
    knows: {day: "On {day}, please.", colour: "Any colour but red."}
    agrees_if: {mentions: ["{name}", "{day}"], act: [plan], says: ["Yes."]}
  gold:
  - find_items: {name: "{name}"}
    save: {found: "$.items[0].name"}
  - ask: day
  - confirm: "Plan {name} for {day}?"
  - plan_item: {name: $found, due: "{day}"}
  - say: Planned.
  gates: [state, {no_write_before: [ask, confirm]}]
- id: plan_declined
  ground: {key: item_id, sql: "SELECT item_id, name, price FROM items"}
  vary: {day: {date: ["2026-04-01", "2026-04-20"]}}
  cases: {cheap: price < 100, dear: price >= 100}
  user:
    says: ["Plan {name} for {day}, but tell me the price first."]
    agrees_if: {mentions: ["{name}", "{price}"], act: [plan], says: ["Yes."], declines: {dear: ["No, that is too much."]}}
  gold:
  - find_items: {name: "{name}"}
    save: {cost: "$.items[0].price"}
  - confirm: "{name} costs {price}. Shall I plan it for {day}?"
  - cheap: [{plan_item: {name: "{name}", due: "{day}"}}, {say: "Planned for {day}."}]
  - dear: [{say: "You declined, so it is not planned."}]
  gates: [state, {no_write_before: [confirm]}]
- id: price
  ground: {key: item_id, sql: "SELECT item_id, name FROM items"}
  user: {says: ["What does {name} cost?"]}
  answer: {price: {type: number, description: The price.}}
  gold:
  - find_items: {name: "{name}"}
    save: {price: "$.items[0].price"}
  - submit: {price: $price}
  - say: "It costs {price}."
"""


def make(folder: Path) -> Path:
    small_world.make(folder)
    (folder / "tasks.yaml").write_text(TASKS, "utf-8")
    return folder
