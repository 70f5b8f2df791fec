"""Arbitrary input: the node answers with success or a refusal in words, never with a failure of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinui.ipfs.multihash import verify_block
from pinui.node.conditions import NotAcceptable, Unsatisfiable, byte_range, disposition, is_known, wanted
from pinui.node.errors import ApiError
from pinui.node.guard import check_origin, check_token
from pinui.node.media import content_type
from pinui.node.store import PinStore
from pinui.node.uploads import MultipartUpload, boundary_of
from pinui.node.wire import json_request, list_query
from tests.unit.trees import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PinStore]:
    store = PinStore(tmp_path_factory.mktemp("fuzz"))
    yield store
    store.close()


def form(files: list[tuple[str, bytes]], options: bytes) -> bytes:
    parts = [
        f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + data + b"\r\n"
        for name, data in files
    ]
    field = b'--b\r\nContent-Disposition: form-data; name="pinataOptions"\r\n\r\n' + options + b"\r\n"
    return b"".join([*parts, field, b"--b--\r\n"])


names = st.sampled_from(["a", "d/a", "d/b", "d/s/c", "d/../x", "e/f", "", "d/", "/", "\\", "d//a", "ü"])
forms = st.builds(
    form,
    st.lists(st.tuples(names, st.binary(max_size=50)), max_size=4),
    st.sampled_from([b"", b"{}", b'{"cidVersion":1}', b"[", b'{"cidVersion":7}', b"\xff"]),
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A form with some bytes changed, removed or added; often none."""
    body = bytearray(draw(forms))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(body)))
        match draw(st.integers(0, 2)):
            case 0:
                body[place : place + 1] = draw(st.binary(min_size=1, max_size=3))
            case 1:
                del body[place : place + draw(st.integers(1, 20))]
            case _:
                body[place:place] = draw(st.sampled_from([b"\r\n", b"--b", b"\r\n--b\r\n", b"\0", b"--"]))
    return bytes(body)


def outcome(store: PinStore, pieces: list[bytes]) -> str:
    upload = MultipartUpload(store, b"b")
    try:
        for piece in pieces:
            upload.feed(piece)
        return upload.finish()[0].cid
    except ApiError as error:
        return f"{error.status} {error.body}"
    finally:
        upload.discard()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(), st.lists(st.integers(0, 600), max_size=5))
def test_any_form_in_any_pieces_is_pinned_or_refused_alike(store: PinStore, body: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    pieces = [body[start:end] for start, end in pairwise(edges)]
    whole = outcome(store, [body])
    assert outcome(store, pieces) == whole
    assert whole.startswith(("400 ", "413 ", "Qm", "ba"))
    folder: Path = store.folder
    assert len(list((folder / "drafts").iterdir())) == 1, "only the lock is left"


def test_what_was_pinned_on_the_way_is_whole(store: PinStore) -> None:
    for path in (store.folder / "pins").iterdir():
        blocks, roots, _ = Store.from_car(path.read_bytes())
        verify_block(roots[0], blocks(roots[0]))


@given(st.binary(max_size=200) | st.builds(lambda text: b'{"pinContent": ' + text + b"}", st.binary(max_size=50)))
def test_any_json_body_is_taken_or_refused(body: bytes) -> None:
    with contextlib.suppress(ApiError):
        assert json_request(body)[0]


@given(st.dictionaries(st.sampled_from(["status", "pageLimit", "pageOffset", "pinStart", "pinSizeMin"]), st.text()))
def test_any_listing_is_understood_or_refused(parameters: dict[str, str]) -> None:
    with contextlib.suppress(ApiError):
        assert list_query(parameters)[0].limit


@given(
    st.text(),
    st.integers(0, 10_000),
    st.dictionaries(st.sampled_from(["format", "dag-scope", "entity-bytes"]), st.text()),
)
def test_any_header_of_a_reader_is_understood_or_refused(text: str, size: int, query: dict[str, str]) -> None:
    try:
        asked = wanted(query, text)
        start, stop = asked.span(size)
        assert start >= 0
        assert stop <= size
    except (NotAcceptable, Unsatisfiable):
        pass
    for header in (text, f"bytes={text}"):
        try:
            span = byte_range(header, size)
            assert span is None or 0 <= span[0] < span[1] <= size
        except Unsatisfiable:
            pass
    is_known(text, '"x"')
    assert all(" " <= sign <= "~" for sign in disposition(text, download=True))
    assert content_type(text, text.encode(errors="replace"))


@given(st.text(), st.text())
def test_any_host_origin_and_token_are_let_in_or_refused(first: str, second: str) -> None:
    for check in (
        lambda: check_origin({"Host": first, "Origin": second}, 80),
        lambda: check_origin({"Host": "localhost", "Origin": second}, 80),
        lambda: check_token({"Authorization": first}, "token that nobody guesses"),
        lambda: check_token({"Authorization": f"Bearer {first}"}, "token that nobody guesses"),
    ):
        with pytest.raises(ApiError):
            check()


@given(st.text())
def test_any_content_type_has_a_boundary_or_is_refused(text: str) -> None:
    with contextlib.suppress(ApiError):
        assert boundary_of(f"multipart/form-data; boundary={text}")
