"""The live page: the report's cards, computed in the background and followed while a run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperlens.dashboard.app import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> Any:
    """Starlette is loaded when the application is asked for; workers do without it."""
    if name == "create_app":
        from hyperlens.dashboard.app import create_app

        return create_app
    raise AttributeError(f"module 'hyperlens.dashboard' has no attribute {name!r}")
