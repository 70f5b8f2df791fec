"""`pinui verify`: read content back and check it against its CID."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinui.cli.errors import UsageError
from pinui.cli.running import run
from pinui.cli.stdin import read_cids
from pinui.workspace.errors import WorkspaceError
from pinui.workspace.sentences import sentence_for
from pinui.workspace.text import clean_line

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.workspace import Workspace
    from pinui.workspace.copying import Copying

__all__ = ["verify"]


def verify(options: Namespace, console: Console) -> int:
    """Read every CID back and print the verdict."""
    if options.repair_from is not None and any("/" in cid for cid in options.cids):
        raise UsageError("--repair-from is for whole pins, not for a path in one.")
    if options.all == bool(options.cids):
        raise UsageError("Name the CIDs to check.", hint="CIDs, - to read them from stdin, or --all.")
    cids = [] if options.all else read_cids(options.cids, whole=options.repair_from is not None)
    work = _Work(console, options.repair_from)
    checked = run(options, console, lambda workspace: work.verify_all(workspace, cids))
    if checked > 1 or work.repaired:
        repaired = f", {work.repaired} repaired" if work.repaired else ""
        console.say(f"{checked} checked{repaired}, {work.failed} failed.")
    elif not checked:
        console.say("Nothing is pinned here yet.")
    return 1 if work.failed else 0


class _Work:
    """One run of the verb."""

    def __init__(self, console: Console, repair_from: str | None) -> None:
        self.failed = 0
        self.repaired = 0
        self._console = console
        self._repair_from = repair_from
        self._is_gone = False  # the service to repair from

    async def verify_all(self, workspace: Workspace, cids: list[str]) -> int:
        """Check these CIDs, or everything that is pinned; the number of them."""
        from pinui.sdk.errors import IntegrityError, InvalidCID, PinuiError

        console = self._console
        await workspace.connect()
        copying = None
        if self._repair_from is not None:
            from pinui.workspace.copying import Copying

            copying = Copying(workspace, workspace.service_of(self._repair_from), workspace.service, repairs=True)
        wanted = cids or await workspace.pinned_cids()
        for one in wanted:
            verdict: str | None = None
            trouble: str | None = None
            is_repaired = False
            try:
                verdict = await workspace.verify(one, on_progress=console.bars().watch(one))
            except (OSError, PinuiError, WorkspaceError) as error:
                console.report(error, about=clean_line(one))
                if copying is not None and _is_lost(error) and not self._is_gone:
                    is_repaired = await self._repair(copying, workspace, one)
                self.failed += not is_repaired
                if isinstance(error, InvalidCID):
                    continue
                if is_repaired:
                    verdict = "verified"
                elif isinstance(error, IntegrityError):
                    verdict = "mismatch"
                else:
                    trouble = sentence_for(error)[0]
            more = {"repaired": True} if is_repaired else {"error": trouble} if trouble else {}
            word = "repaired" if is_repaired else "unreadable" if trouble else verdict or "not checked"
            console.result({"cid": one, "verification": verdict, **more}, word, one)
        return len(wanted)

    async def _repair(self, copying: Copying, workspace: Workspace, cid: str) -> bool:
        """Copy back content that the service has lost, and check it."""
        from pinui.sdk.errors import NetworkError, NetworkTimeout, PinuiError

        try:
            plan = await copying.plan(await copying.pins_of([cid]))
            await copying.copy(plan.items[0], self._console.bars().watch(cid))
            is_verified = await workspace.verify(cid) == "verified"
        except (OSError, PinuiError, WorkspaceError) as error:
            self._console.report(error, about=f"{cid} could not be copied from {self._repair_from}")
            self._is_gone = isinstance(error, NetworkError) and not isinstance(error, NetworkTimeout)
            return False
        self.repaired += is_verified
        return is_verified


def _is_lost(error: Exception) -> bool:
    """Whether the service answered without the content, or with other bytes."""
    from pinui.sdk.errors import IntegrityError, NetworkTimeout, ProviderError

    return isinstance(error, (IntegrityError, NetworkTimeout, ProviderError))
