"""The grammar of the command line, with an example in the help of every verb."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from pinui.cli.examples import EXAMPLES
from pinui.version import __version__
from pinui.workspace.text import clean

__all__ = ["QUOTES", "build_parser", "verb_in"]

OVERVIEW = """\
Store, read and revoke JSON, files and messages on IPFS by their CID.
Without a verb, pinui opens the workbench. Without any set-up, it works on a node of its own.
"""
BELOW = """\
examples:
  pinui store '{"hello":"world"}'      store JSON, print its CID
  pinui upload photo.png notes/        a file, and a folder as one directory
  pinui download CID -o photo.png      write the content of a CID to a file
  pinui history --filter photo         find something you stored

environment: PINUI_HOME, PINUI_PROFILE, PINUI_TOKEN, PINUI_TOKEN_<PROFILE>, PINUI_API_URL,
             PINUI_GATEWAY_URL, PINUI_NODE_TOKEN
exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted
`pinui VERB --help` says more. Anyone with a CID can read its content.
"""


ADDRESS = "a CID, or an address that contains /ipfs/CID; - reads it from stdin"
CIDS = "CIDs or addresses, or - to read them from stdin, one per line"
ROWS = "rows with this CID; - reads CIDs from stdin, one per line"
QUOTES = """Put single quotes around JSON in a shell: pinui store '{"hello":"world"}'"""


COMMON = ("--profile", "--json", "--debug", "-V", "--version")
"""The options that may come before the verb."""
OTHER_WORDS = {
    "add": "upload",
    "cat": "retrieve",
    "delete": "revoke",
    "get": "download",
    "list": "pins",
    "login": "profile add",
    "ls": "pins",
    "rm": "revoke",
    "unpin": "revoke",
    "version": "--version",
}
"""Words of other tools, and the ones that pinui has for them."""
OPTION = re.compile(r"(?<!\S)--?[a-zA-Z][\w-]*")


class Parser(argparse.ArgumentParser):
    """A parser that answers a typing error with the nearest known word."""

    typed = ""
    """The verb, where it is known before the words are parsed."""
    unknown = ""
    """The first option before the verb that doesn't exist. argparse would take the word after it for the verb."""

    def error(self, message: str) -> NoReturn:
        hint = f"See `{self.prog} {self.typed} --help`." if self.typed in GRAMMAR else f"See `{self.prog} --help`."
        said, _, _ = message.removeprefix("argument ").partition(" (choose from")
        wrong, _, choices = message.partition("invalid choice: ")[2].partition(" (choose from ")
        if choices:
            from difflib import get_close_matches  # only after a typing error

            word = wrong.strip("'")
            known = [choice.strip("' )") for choice in choices.split(",")]
            near = [OTHER_WORDS[word]] if self.typed and word in OTHER_WORDS else get_close_matches(word, known, 1)
            said = f"there is no “{word}” here"
            if near:
                said += f"; did you mean “{near[0]}”?"
            elif len(known) < 6:
                said += f", only {', '.join(known)}"
            if word == "list" and not near:
                hint = f"`{self.prog}` by itself lists."
            if option := re.match("argument (--[a-z]+)", message):
                said = f"{option[1]} is one of {', '.join(known)}, not “{word}”"
        stray = OPTION.search(message) if message.startswith("unrecognized") else None
        if self.unknown or stray:
            said = f"there is no option {self.unknown or (stray and stray[0])}"
        elif message.startswith("unrecognized") and self.typed == "store":
            hint = QUOTES
        sys.stderr.write(clean(f"pinui: {said}\n       {hint}\n"))  # words may come from elsewhere, by way of xargs
        raise SystemExit(2)


def build_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The whole grammar. If a verb was typed, only that one is built: the others take a while."""
    everywhere = Parser(add_help=False)
    _add_common(everywhere, default=argparse.SUPPRESS)
    parser = Parser(
        prog="pinui",
        description=OVERVIEW,
        epilog=BELOW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"pinui {__version__}")
    _add_common(parser, default=None)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    parser.typed = typed = verb_in(arguments)
    before = arguments[: arguments.index(typed)] if typed else ()
    options = (word.partition("=")[0] for word in before if word.startswith("-"))
    parser.unknown = next((option for option in options if option not in COMMON), "")
    for name in [typed] if typed in GRAMMAR else GRAMMAR:
        GRAMMAR[name](_Verbs(verbs, everywhere))
    return parser


def verb_in(arguments: Sequence[str]) -> str:
    """The first word that is no option and no option's value."""
    words = iter(arguments)
    for word in words:
        if word == "--profile":
            next(words, None)
        elif not word.startswith("-"):
            return word
        elif word in ("-h", "--help"):
            break
    return ""


def _add_common(parser: argparse.ArgumentParser, *, default: str | None) -> None:
    """The options that may come before or after the verb; after it, an option that is not given keeps its value."""
    switch = argparse.SUPPRESS if default is argparse.SUPPRESS else False
    parser.add_argument(
        "--profile", metavar="NAME", default=default, help="use this profile instead of the current one"
    )
    parser.add_argument("--json", action="store_true", default=switch, help="print JSON: one object, or one per line")
    parser.add_argument(
        "--debug",
        action="store_true",
        default=switch,
        help="log requests and the origin of errors to stderr (in the workbench: to debug.log)",
    )


class _Verbs:
    """Adds verbs in one style."""

    def __init__(self, verbs: argparse._SubParsersAction[Parser], everywhere: Parser) -> None:  # pyright: ignore[reportPrivateUsage] – argparse gives its type no other name
        self._verbs = verbs
        self.everywhere = everywhere

    def add(self, words: str, short: str) -> Parser:
        """A verb, with one line for the list of verbs and an example for its own help."""
        example = "\n".join(f"  {line}" for line in EXAMPLES[words])
        return self._verbs.add_parser(
            words.rpartition(" ")[2],
            help=short,
            description=f"{short[:1].upper()}{short[1:]}.",
            epilog=f"{'examples' if len(EXAMPLES[words]) > 1 else 'example'}:\n{example}",
            parents=[self.everywhere],
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )


def _store(verbs: _Verbs) -> None:
    verb = verbs.add("store", "store a JSON document and print its CID")
    verb.add_argument("document", metavar="JSON", help="the JSON itself, @FILE, or - for stdin")
    verb.add_argument("--name", metavar="TEXT", help="its name in the history")


def _retrieve(verbs: _Verbs) -> None:
    verb = verbs.add("retrieve", "print the JSON document of a CID")
    verb.add_argument("cid", metavar="CID", help=ADDRESS)


def _upload(verbs: _Verbs) -> None:
    verb = verbs.add("upload", "upload files and folders, print CID and path")
    verb.add_argument("paths", metavar="PATH", nargs="+", help="a file, a folder (one directory CID), or - for stdin")
    _add_folder_options(verb, "pin each file in a folder by itself")
    verb.add_argument("--name", metavar="TEXT", help="its name in the history (with one path)")


def _download(verbs: _Verbs) -> None:
    verb = verbs.add("download", "write the content of a CID to a file")
    verb.add_argument("cid", metavar="CID", help=f"{ADDRESS}; a path may follow the CID")
    verb.add_argument(
        "-o", "--output", metavar="PATH", help="a file, a folder, or - for stdout (default: its name, here)"
    )
    verb.add_argument("-f", "--force", action="store_true", help="overwrite a file that is there")


def _export(verbs: _Verbs) -> None:
    verb = verbs.add("export", "write all blocks of a CID to a CAR file, verified")
    verb.add_argument("cid", metavar="CID", help=ADDRESS)
    verb.add_argument("-o", "--output", metavar="FILE", help="the CAR file, or - for stdout (default: CID.car, here)")
    verb.add_argument("-f", "--force", action="store_true", help="overwrite a file that is there")


def _import(verbs: _Verbs) -> None:
    verb = verbs.add("import", "pin the content of CAR files, verified before anything is sent")
    verb.add_argument(
        "files", metavar="FILE", nargs="+", help="a CAR file, or - for stdin; each of its roots becomes a pin"
    )
    verb.add_argument("--name", metavar="TEXT", help="its name in the history (with one file)")


def _copy(verbs: _Verbs) -> None:
    verb = verbs.add("copy", "copy pins from one service to another, with the same CIDs and names")
    verb.add_argument("cids", metavar="CID", nargs="*", help=CIDS)
    verb.add_argument("--from", dest="source", metavar="PROFILE", required=True, help="the service that has them")
    verb.add_argument("--to", metavar="PROFILE", required=True, help="the service to copy them to")
    verb.add_argument("--filter", metavar="TEXT", default="", help="every pin that matches: size:>1mb, age:<7d, -draft")
    verb.add_argument("--all", action="store_true", help="every pin of the service")
    verb.add_argument("--dry-run", action="store_true", help="only tell what would be copied, and how")


def _transfers(verbs: _Verbs) -> None:
    verb = verbs.add("transfers", "list, finish or forget transfers that are not finished")
    parts = verb.add_subparsers(dest="part", metavar="resume|forget", title="also")
    inner = _Verbs(parts, verbs.everywhere)
    part = inner.add("transfers resume", "finish interrupted transfers; failed ones stay as they are")
    part.add_argument("ids", metavar="ID", nargs="*", type=_at_least_one, help="only these (default: all)")
    part = inner.add("transfers forget", "drop unfinished and failed transfers")
    part.add_argument("ids", metavar="ID", nargs="*", type=_at_least_one, help="only these (default: all)")


def _send(verbs: _Verbs) -> None:
    verb = verbs.add("send", "store a message and print its CID, for you to share")
    verb.add_argument("recipient", metavar="RECIPIENT", help="any name; it becomes part of the message")
    verb.add_argument("text", metavar="TEXT", help="the message, or - for stdin; nothing encrypts it")


def _receive(verbs: _Verbs) -> None:
    verb = verbs.add("receive", "print the message of a CID")
    verb.add_argument("cid", metavar="CID", help=ADDRESS)


FILTER = "words, and terms such as kind:json, size:>1mb, age:<7d, is:revoked, to:alice, -draft"


def _pins(verbs: _Verbs) -> None:
    verb = verbs.add("pins", "list the pins that the service holds now")
    verb.add_argument("--filter", metavar="TEXT", default="", help="words of the name, size:>1mb, age:<7d, -draft")


def _sync(verbs: _Verbs) -> None:
    verb = verbs.add("sync", "read the list of pins at the service, for the workbench and for filters")
    verb.add_argument("--full", action="store_true", help="read everything, not only what is new")


def _pin(verbs: _Verbs) -> None:
    verb = verbs.add("pin", "ask the service to keep content that is stored elsewhere")
    verb.add_argument("cids", metavar="CID", nargs="+", help=CIDS)
    verb.add_argument("--name", metavar="TEXT", help="its name at the service (with one CID)")


def _rename(verbs: _Verbs) -> None:
    verb = verbs.add("rename", "give a pin another name at the service")
    verb.add_argument("cid", metavar="CID", help=ADDRESS)
    verb.add_argument("name", metavar="NAME", help="the name at the service; names in the history stay")


def _revoke(verbs: _Verbs) -> None:
    verb = verbs.add("revoke", "unpin content at the service")
    verb.add_argument("cids", metavar="CID", nargs="*", help=CIDS)
    verb.add_argument("--filter", metavar="TEXT", default="", help=f"every pin that matches: {FILTER}")
    verb.add_argument("--dry-run", action="store_true", help="only list what would be revoked")
    verb.add_argument("-y", "--yes", action="store_true", help="do not ask")


def _status(verbs: _Verbs) -> None:
    verb = verbs.add("status", "tell which profiles pin a CID, on which peers, and which gateways serve it")
    verb.add_argument("cid", metavar="CID", help=ADDRESS)


def _verify(verbs: _Verbs) -> None:
    verb = verbs.add("verify", "read pins back and check that their bytes match their CIDs")
    verb.add_argument("cids", metavar="CID", nargs="*", help=CIDS)
    verb.add_argument("--all", action="store_true", help="everything that is known to be pinned")
    verb.add_argument(
        "--repair-from", metavar="PROFILE", help="copy back from this service what the other one has lost"
    )


def _cid(verbs: _Verbs) -> None:
    verb = verbs.add("cid", "print the CIDs that files would get, one for each way to cut them, without uploading them")
    verb.add_argument("paths", metavar="PATH", nargs="+", help="a file, a folder, or - for stdin")
    _add_folder_options(verb, "take each file in a folder by itself")


def _history(verbs: _Verbs) -> None:
    verb = verbs.add("history", "list, export, import, note or forget what you stored")
    _add_filters(verb, inherited=False)
    verb.add_argument(
        "--limit", type=_from_zero, metavar="N", help="at most N rows (default: 50 on a terminal, else all)"
    )
    parts = verb.add_subparsers(dest="part", metavar="export|import|note|forget", title="also")
    inner = _Verbs(parts, verbs.everywhere)
    part = inner.add("history export", "write the history as JSON lines")
    _add_filters(part, inherited=True)
    part.add_argument("file", metavar="FILE", help="a file, or - for stdout")
    part.add_argument("-f", "--force", action="store_true", help="overwrite a file that is there")
    part = inner.add("history import", "add rows from JSON lines; existing rows stay")
    part.add_argument("file", metavar="FILE", help="a file, or - for stdin")
    part = inner.add("history note", "add a note to rows; filters find its words")
    part.add_argument("cid", metavar="CID", help=ROWS)
    part.add_argument("text", metavar="TEXT", help="the note, which stays in the history; '' removes it")
    part = inner.add("history forget", "remove rows for good; this unpins nothing")
    part.add_argument("cids", metavar="CID", nargs="*", help=ROWS)
    _add_filters(part, inherited=True)
    part.add_argument("--all", action="store_true", help="every row")
    part.add_argument("-y", "--yes", action="store_true", help="do not ask")


def _profile(verbs: _Verbs) -> None:
    verb = verbs.add("profile", "list, add, choose or remove services")
    parts = verb.add_subparsers(dest="part", metavar="list|add|use|remove", title="what to do")
    inner = _Verbs(parts, verbs.everywhere)
    inner.add("profile list", "list the profiles")
    part = inner.add(
        "profile add",
        "add a profile, or change it: asks for its token, tests it, and keeps it if there is a keyring",
    )
    part.add_argument("name", metavar="NAME", help="its name; pinui knows the addresses of `pinata`")
    part.add_argument(
        "--provider",
        choices=("pinning", "kubo", "cluster", "psa"),
        help="the kind of service: the hosted service's API (default), Kubo's RPC, IPFS Cluster, or the Pinning "
        "Service API, which takes no uploads",
    )
    part.add_argument(
        "--api-url",
        metavar="URL",
        help="where its API is (default: the one of pinata; of Kubo, the one that runs here)",
    )
    part.add_argument(
        "--gateway-url",
        action="append",
        metavar="URL",
        help="the gateway to read from; it usually ends in /ipfs. Repeat it for gateways to ask if that one fails",
    )
    part.add_argument(
        "--dialect",
        choices=("pin", "pinata", "pinata-v3"),
        help="the version of the API (default: found by its address and its key)",
    )
    part.add_argument(
        "--replication-min",
        type=_peers,
        metavar="N",
        help="IPFS Cluster: the fewest peers that must keep a pin; -1 for all of them",
    )
    part.add_argument(
        "--replication-max",
        type=_peers,
        metavar="N",
        help="IPFS Cluster: the most peers that keep a pin; -1 for all of them",
    )
    part.add_argument("--gateway-key", action="store_true", help="the gateway has a key of its own: ask for it too")
    part.add_argument("--no-test", action="store_true", help="save it without trying the token first")
    part = inner.add("profile use", "make a profile the current one")
    part.add_argument("name", metavar="NAME", help="the profile; `pinui profile` lists them")
    part = inner.add("profile remove", "remove a profile and its token; the history stays")
    part.add_argument("name", metavar="NAME", help="the profile; `pinui profile` lists them")
    part.add_argument("-y", "--yes", action="store_true", help="do not ask about transfers that are not finished there")


def _test(verbs: _Verbs) -> None:
    verbs.add("test", "ask the service whether it accepts the token")


def _info(verbs: _Verbs) -> None:
    verbs.add("info", "show versions, the places of files and the state of the keyring; no secrets")


def _doctor(verbs: _Verbs) -> None:
    verbs.add("doctor", "check this machine, the settings and the service; say what to do; no secrets")


def _completion(verbs: _Verbs) -> None:
    verb = verbs.add("completion", "print a script that completes pinui's verbs and options in a shell")
    verb.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")


def _node(verbs: _Verbs) -> None:
    verb = verbs.add("node", "run a pinning service on this machine")
    verb.add_argument(
        "--port", type=_port, metavar="N", help="where to listen on 127.0.0.1 (default: the remembered one)"
    )
    verb.add_argument("--data", metavar="DIR", help="where pins are kept (default: the folder of the profile local)")
    token = verb.add_mutually_exclusive_group()
    token.add_argument(
        "--token-file", metavar="FILE", help="where its token is (default: PINUI_NODE_TOKEN, or the remembered one)"
    )
    token.add_argument("--token", metavar="TOKEN", help="its token, which the list of processes shows")
    verb.add_argument("--rate-limit", type=_at_least_one, metavar="N", help="answer 429 after N requests a minute")
    verb.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="answer pages of this origin, such as http://localhost:5173 (repeatable)",
    )
    verb.add_argument(
        "--fetch-from",
        action="append",
        default=[],
        metavar="GATEWAY",
        help="fetch content that is pinned by CID from this gateway, verified (repeatable)",
    )


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"give a port from 1 to 65535, not “{text}”")


def _peers(text: str) -> int:
    if text == "-1" or (text.isascii() and text.isdigit() and int(text) > 0):
        return int(text)
    raise argparse.ArgumentTypeError(f"give a number from 1 on, or -1 for all peers, not “{text}”")


def _add_folder_options(verb: argparse.ArgumentParser, each: str) -> None:
    """The options for folders, the same for `upload` and `cid`, so that both mean the same content."""
    verb.add_argument("-r", "--recursive", action="store_true", help=each)
    verb.add_argument("--hidden", action="store_true", help="include names in a folder that begin with a dot")
    verb.add_argument("--follow-links", action="store_true", help="include the targets of links in a folder")
    verb.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="leave out names in a folder by a pattern as in a .gitignore, such as '*.tmp' (repeatable); "
        "a folder's own .ipfsignore counts, too",
    )


def _from_zero(text: str) -> int:
    if text.isascii() and text.isdigit():
        return int(text)
    raise argparse.ArgumentTypeError(f"give a number from 0 on, not “{text}”")


def _at_least_one(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"give a number from 1 on, not “{text}”")


def _add_filters(parser: argparse.ArgumentParser, *, inherited: bool) -> None:
    """The options that select rows. In `history --filter x forget` the filter comes first and still counts."""
    none = argparse.SUPPRESS if inherited else None
    text = argparse.SUPPRESS if inherited else ""
    parser.add_argument("--filter", metavar="TEXT", default=text, help=FILTER)
    parser.add_argument("--kind", choices=("json", "file", "message"), default=none, help="only this kind")
    parser.add_argument("--direction", choices=("sent", "received"), default=none, help="only sent, or only received")
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--pinned", dest="revoked", action="store_false", default=none, help="no revoked rows")
    state.add_argument("--revoked", dest="revoked", action="store_true", default=none, help="only revoked rows")


GRAMMAR: dict[str, Callable[[_Verbs], None]] = {
    "store": _store,
    "retrieve": _retrieve,
    "upload": _upload,
    "download": _download,
    "transfers": _transfers,
    "send": _send,
    "receive": _receive,
    "pins": _pins,
    "sync": _sync,
    "pin": _pin,
    "rename": _rename,
    "revoke": _revoke,
    "status": _status,
    "verify": _verify,
    "cid": _cid,
    "history": _history,
    "profile": _profile,
    "test": _test,
    "info": _info,
    "doctor": _doctor,
    "export": _export,
    "import": _import,
    "copy": _copy,
    "node": _node,
    "completion": _completion,
}
