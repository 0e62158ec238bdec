"""Values that faker makes up: names, cities, sentences. Imported by path, and only where a family
asks for it.

The providers of dates are left out, and so is what else looks at the calendar: a task must be the
same tomorrow.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

from faker import Faker
from faker.config import AVAILABLE_LOCALES, PROVIDERS

from synth.core.foundation.hashing import canonical
from synth.core.tasks.queries import json_value
from synth.core.tasks.yaml.scope import nearest

DATES = "faker.providers.date_time"
PEOPLE = "faker.providers.person"


def fake_values(name: str, count: int, locale: str, seed: int) -> list[object]:
    """``count`` distinct values of a provider, in the order in which the seed gives them.

    Raises ValueError for an unknown provider or locale, for values that are not JSON or depend on
    the day, and where the provider has not got so many.
    """
    if locale not in AVAILABLE_LOCALES:
        raise ValueError(f"faker has no locale {locale!r}; {nearest(locale, AVAILABLE_LOCALES)}")
    faker = Faker(locale, providers=[provider for provider in PROVIDERS if provider != DATES])
    faker.seed_instance(seed)
    make = _provider(faker, name)
    values: dict[str, object] = {}
    for _ in range(1000 + 20 * count):
        try:
            found = canonical(json_value(make()))
            values.setdefault(found, json.loads(found))
        except AttributeError:  # it builds on a provider of dates
            raise ValueError(_by_the_day(name)) from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"faker's {name} gives no JSON value: {error}") from None
        if len(values) == count:
            return list(values.values())
    raise ValueError(f"faker's {name} has no {count} different values; {len(values)} were found")


def first_names() -> frozenset[str]:
    """The first names that faker knows in any country, case folded."""
    found = set[str]()
    for locale in sorted({*AVAILABLE_LOCALES} - {"fr_QC"}):  # a deprecated name of fr_CA
        for provider in Faker(locale, providers=[PEOPLE]).factories[0].get_providers():
            for name in dir(provider):
                if name.startswith("first_names") and not callable(getattr(provider, name)):
                    found.update(str(one).casefold() for one in getattr(provider, name))
    return frozenset(found)


def _provider(faker: Faker, name: str) -> Callable[[], Any]:
    providers = faker.factories[0].get_providers()
    known = {
        item: getattr(provider, item)
        for provider in reversed(providers)
        for item in dir(provider)
        if item.islower() and not item.startswith("_") and callable(getattr(provider, item))
    }
    if name not in known:
        dated = Faker(providers=[DATES]).factories[0].get_providers()
        if any(hasattr(provider, name) for provider in dated):
            raise ValueError(_by_the_day(name))
        raise ValueError(f"faker has no provider {name!r}; {nearest(name, known)}")
    source = inspect.getsource(known[name])
    if ".today(" in source or ".now(" in source:
        raise ValueError(_by_the_day(name))
    person, kind = known[name].__self__, name.removeprefix("name")  # such as name_female
    plain = [one for one in getattr(person, f"formats{kind}", ()) if "fix" not in one]  # no titles
    return (lambda: faker.parse(faker.random_element(plain))) if plain else known[name]


def _by_the_day(name: str) -> str:
    return (
        f"faker's {name} depends on the day on which it is asked; for days write {{date:"
        f" [first, last]}}"
    )
