"""Addresses of databases: which driver opens one, and what to install if it is missing."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from hyperlens.errors import SourceError

if TYPE_CHECKING:
    from sqlalchemy import URL

# what SQLAlchemy calls the database, its driver, the driver's module, our extra
_DRIVERS = {
    "postgresql": ("psycopg", "psycopg", "postgresql"),
    "mysql": ("pymysql", "pymysql", "mysql"),
    "mariadb": ("pymysql", "pymysql", "mysql"),
}


def parse(url: str) -> URL:
    """A database's address with its driver; one that the user named is kept.

    >>> parse("postgres://me@host/runs").drivername
    'postgresql+psycopg'
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        address = make_url(url)
    except (ArgumentError, ValueError) as problem:
        raise SourceError(
            "This is not a usable database address; write it like sqlite:///demo.db or "
            "postgresql://user:password@host/database."
        ) from problem
    if address.drivername == "postgres":  # as many hosts print it
        address = address.set(drivername="postgresql")
    if address.drivername not in _DRIVERS:
        return address
    driver, module, extra = _DRIVERS[address.drivername]
    if find_spec(module) is None:
        raise SourceError(
            f"The database driver '{module}' is not installed; install it with "
            f"'pip install hyperlens[{extra}]'."
        )
    return address.set(drivername=f"{address.drivername}+{driver}")
