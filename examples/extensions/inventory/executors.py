"""Tools on the service: their first argument is the environment."""

from envs import tool

from .environment import Inventory


@tool(read_only=True)
def find_items(inventory: Inventory, name: str) -> list:
    """Find items whose name holds a word.

    Args:
        name: The word.
    """
    return [item for item in inventory.send("GET", "/items") if name.lower() in item["name"]]


@tool
def reserve(inventory: Inventory, sku: str, customer: str, count: int) -> dict:
    """Reserve pieces of an item for a customer.

    Args:
        sku: The item, as find_items gives it.
        customer: The customer's whole name.
        count: How many pieces.
    """
    wanted = {"sku": sku, "customer": customer, "count": count}
    return inventory.send("POST", "/reservations", wanted)
