"""Transfers: a ledger of what was asked for, and a queue that finishes it, in this process or a later one."""

from __future__ import annotations

from pinui.workspace.transfers.queue import Transfers
from pinui.workspace.transfers.transfer import Progress, Rate, Transfer

__all__ = ["Progress", "Rate", "Transfer", "Transfers"]
