"""`pinui node`: the node in the foreground, until it is interrupted."""

from __future__ import annotations

import json
import logging
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from pinui.node.line_writer import LineWriter
from pinui.node.server import Node, NodeError, RequestLine

__all__ = ["run"]

LONGEST_PATH = 160


def run(
    data_dir: Path,
    *,
    port: int | None = None,
    token: str | None = None,
    rate_limit: int | None = None,
    allow_origins: Sequence[str] = (),
    fetch_from: Sequence[str] = (),
    as_json: bool = False,
) -> int:
    """Serve until SIGINT or SIGTERM; the exit code. stdout says where it listens, stderr logs the requests."""
    stop = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    log = LineWriter(sys.stderr, lambda lost: _sentence(f"{lost:,} lines of this log are missing here", as_json))
    logging.getLogger("pinui.node").addHandler(_Narration(log, as_json))
    show = _json_line if as_json else _text_line
    node = Node(
        data_dir,
        port=port or 0,
        token=token or None,
        rate_limit=rate_limit or None,
        allow_origins=allow_origins,
        fetch_from=fetch_from,
        on_request=lambda line: log.put(show(line)),
    )
    try:
        node.start()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        sys.stdout.write(_json_greeting(node) if as_json else _text_greeting(node))
        sys.stdout.flush()
        stop.wait()
    except NodeError as error:
        log.put(f"pinui: {error}")
        return 1
    finally:
        node.stop()
        log.close()
    return 0


class _Narration(logging.Handler):
    """Log records of the node, written in the same way as its requests: they come from places that may not block."""

    def __init__(self, log: LineWriter, as_json: bool) -> None:
        super().__init__()
        self._log = log
        self._as_json = as_json

    def emit(self, record: logging.LogRecord) -> None:
        self._log.put(_sentence(self.format(record), self._as_json, record.levelname.lower()))


def _sentence(text: str, as_json: bool, level: str = "warning") -> str:
    return json.dumps({"time": time.time(), "level": level, "message": text}) if as_json else text


def _text_greeting(node: Node) -> str:
    header = shlex.quote(f"Authorization: Bearer {node.token}")
    document = """'{"pinContent": {"hello": "world"}}'"""
    return f"""A pinning service on this machine, until ctrl+c:

  API      {node.api_url}
  gateway  {node.gateway_url}
  token    {node.token}
  data     {node.data_dir}

Try it:

  curl {node.api_url}/pinning/pinJSONToIPFS -H {header} -H 'Content-Type: application/json' -d {document}

"""


def _json_greeting(node: Node) -> str:
    facts = {
        "api_url": node.api_url,
        "gateway_url": node.gateway_url,
        "token": node.token,
        "data": str(node.data_dir),
    }
    return json.dumps(facts) + "\n"


def _clean_path(path: str) -> str:
    """A path is remote text on its way to a terminal: only what URLs may hold, and not too much of it."""
    shown = re.sub(r"[^!-~]", lambda sign: f"%{ord(sign[0]):02X}", path)
    return shown if len(shown) <= LONGEST_PATH else f"{shown[:LONGEST_PATH]}…"


def _text_line(line: RequestLine) -> str:
    clock = time.strftime("%H:%M:%S")
    return f"{clock}  {line.status}  {line.seconds * 1000:7.1f} ms  {line.method:<6}  {_clean_path(line.path)}"


def _json_line(line: RequestLine) -> str:
    return json.dumps(
        {
            "time": time.time(),
            "method": line.method,
            "path": _clean_path(line.path),
            "status": line.status,
            "milliseconds": round(line.seconds * 1000, 3),
        }
    )
