"""The smallest honest `StorageProvider`: a dictionary."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from pinui import Blob, ContentError, ProviderError
from pinui.ipfs.importer import KUBO_V0, CidPredictor
from pinui.ipfs.jsontext import NotJSON, parse, stringify
from pinui.sdk.transport.http import OnProgress
from pinui.sdk.writing.sources import Uploadable, open_source


class Shelf:
    """Keeps bytes by CID."""

    def __init__(self) -> None:
        self._kept: dict[str, Blob] = {}

    def _keep(self, data: bytes, name: str | None = None) -> str:
        predictor = CidPredictor(KUBO_V0)
        predictor.feed(data)
        cid = str(predictor.finish())
        self._kept[cid] = Blob(data, name=name)
        return cid

    def _find(self, cid: str) -> Blob:
        if cid not in self._kept:
            raise ProviderError(f"{cid} is not here", status=404)
        return self._kept[cid]

    async def put_json(self, data: Any) -> str:
        return self._keep(stringify(data).encode())

    async def get_json(self, cid: str) -> Any:
        try:
            return parse(self._find(cid).data)
        except NotJSON as error:
            raise ContentError(f"{cid} is not JSON: {error}") from None

    async def put_file(self, file: Uploadable, *, on_progress: OnProgress | None = None) -> str:
        source = open_source(file)
        with source.parts[0].open() as opened:
            data = opened.read()
        if on_progress is not None:
            on_progress(len(data), len(data))
        return self._keep(data, source.name)

    async def get_file(
        self, cid: str, *, to: str | PathLike[str] | None = None, on_progress: OnProgress | None = None
    ) -> Any:
        blob = self._find(cid)
        if on_progress is not None:
            on_progress(blob.size, blob.size)
        if to is None:
            return blob
        path = Path(to) / cid if Path(to).is_dir() else Path(to)
        path.write_bytes(blob.data)
        return path

    async def unpin(self, cid: str) -> bool:
        self._find(cid)
        del self._kept[cid]
        return True

    async def test_authentication(self) -> bool:
        return True
