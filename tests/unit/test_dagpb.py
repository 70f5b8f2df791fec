"""dag-pb: one byte order, nothing else."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.ipfs.cid import DAG_PB, RAW, SHA2_256, Cid
from pinui.ipfs.dagpb import Link, decode_node, encode_node
from pinui.ipfs.errors import ContentAddressError, MalformedContent, UnsupportedContent
from pinui.ipfs.limits import MAX_BLOCK
from pinui.ipfs.multihash import dag_pb_cid
from pinui.ipfs.unixfs import FilePiece, Folder, Shard, Symlink, read_block

CID = Cid(1, RAW, SHA2_256, bytes(32))
LINK = bytes.fromhex("12260a24") + bytes(CID)
PB = Cid(1, DAG_PB, SHA2_256, bytes(32))

links = st.builds(
    Link,
    st.builds(
        Cid,
        st.just(1),
        st.sampled_from([RAW, DAG_PB]),
        st.just(SHA2_256),
        st.binary(min_size=32, max_size=32),
    ),
    st.none() | st.text(max_size=8),
    st.none() | st.integers(0, 2**60),
)


@given(st.lists(links, max_size=4), st.none() | st.binary(max_size=20))
def test_what_is_written_is_read_back(written: list[Link], data: bytes | None) -> None:
    node = decode_node(encode_node(written, data))
    assert node.links == tuple(written)
    assert (None if node.data is None else bytes(node.data)) == data


@given(st.binary(max_size=60))
def test_arbitrary_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(ContentAddressError):
        read_block(PB, data)


SOME = Cid.parse("bafkqabiaaebagba")


@pytest.mark.parametrize(
    ("linked", "data", "cid"),
    [
        ([], None, "bafybeihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"),
        ([], b"", "bafybeiaqfni3s5s2k2r6rgpxz4hohdsskh44ka5tk6ztbjerqpvxwfkwaq"),
        ([], bytes(range(5)), "bafybeibazl2z4vqp2tmwcfag6wirmtpnomxknqcgrauj7m2yisrz3qjbom"),
        ([Link(SOME)], None, "bafybeia53f5n75ituvc3yupuf7tdnxf6fqetrmo2alc6g6iljkmk7ys5mm"),
        ([Link(SOME, "")], None, "bafybeie7fstnkm4yshfwnmpp7d3mlh4f4okmk7a54d6c3ffr755q7qzk44"),
        ([Link(SOME, "some name")], None, "bafybeifq4hcxma3kjljrpxtunnljtc6tvbkgsy3vldyfpfbx2lij76niyu"),
        ([Link(SOME, None, 0)], None, "bafybeichjs5otecmbvwh5azdr4jc45mp2qcofh2fr54wjdxhz4znahod2i"),
        ([Link(SOME, None, 2**53 - 1)], None, "bafybeiezymjvhwfuharanxmzxwuomzjjuzqjewjolr4phaiyp6l7qfwo64"),
        (
            [Link(SOME), Link(SOME, "bar"), Link(SOME, "foo")],
            None,
            "bafybeiahfgovhod2uvww72vwdgatl5r6qkoeegg7at2bghiokupfphqcku",
        ),
        ([Link(SOME, "a"), Link(SOME, "a")], None, "bafybeieube7zxmzoc5bgttub2aqofi6xdzimv5munkjseeqccn36a6v6j4"),
    ],
)
def test_a_block_has_the_bytes_that_the_specification_gives_it(
    linked: list[Link], data: bytes | None, cid: str
) -> None:
    block = encode_node(linked, data)
    assert str(dag_pb_cid((block,), 1)) == cid
    assert decode_node(block).links == tuple(linked)


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        (b"\x08\x01", "a field that dag-pb does not know"),
        (b"\x1a\x00", "a field that dag-pb does not know"),
        (b"\x0a\x00\x0a\x00", "its data twice"),
        (LINK + b"\x0a\x00" + LINK, "both sides"),
        (b"\x0a\x05\x01", "ends inside a field"),
        (b"\x0b", "a type that protobuf does not know"),
        (b"\x12\x02\x1a\x00", "a link has a field|dag-pb link has a field"),
        (b"\x12\x04\x12\x00\x0a\x00", "out of order"),
        (b"\x12\x2b\x0a\x24" + bytes(CID) + b"\x12\x03a\xff\xfe", "not UTF-8"),
        (b"\x12\x03\x0a\x01\x07", "no CID"),
        (b"\x12\x00", "no CID"),
        (b"\x12\x02\x0a\x00", "ends inside a number"),
        (b"\x12\x02\x12\x00", "no CID"),
        (b"\x12\x0b\x12\x09some name", "no CID"),
        (b"\x12\x02\x18\x00", "no CID"),
        (b"\x12\x00\x0a\x01x", "no CID"),
        (b"\x09" + bytes(8), "a field that dag-pb does not know"),
    ],
)
def test_what_no_writer_produces_is_refused(block: bytes, sentence: str) -> None:
    with pytest.raises(MalformedContent, match=sentence):
        decode_node(block)


def test_old_blocks_with_their_data_first_are_read() -> None:
    node = decode_node(b"\x0a\x01x" + LINK)
    assert node.data == b"x"
    assert node.links == (Link(CID),)


def test_a_block_larger_than_blocks_can_be_is_refused() -> None:
    with pytest.raises(UnsupportedContent, match="2 MiB"):
        decode_node(bytes(MAX_BLOCK + 1))


def _unixfs(message: bytes, *linked: Link) -> bytes:
    return encode_node(linked, message)


def test_a_file_may_pack_its_sizes_and_carry_mode_and_time() -> None:
    message = bytes.fromhex("080218072202040338a40342020801")
    piece = read_block(PB, _unixfs(message, Link(CID, "", 4), Link(CID, "", 3)))
    assert piece == FilePiece(memoryview(b""), ((CID, 4), (CID, 3)), 7)


def test_each_kind_is_told() -> None:
    assert read_block(PB, _unixfs(b"\x08\x01")) == Folder(())
    assert read_block(PB, _unixfs(b"\x08\x04\x12\x01x")) == Symlink("x")
    assert read_block(PB, _unixfs(b"\x08\x00\x12\x01x")) == FilePiece(memoryview(b"x"), (), 1)
    assert read_block(CID, b"raw") == FilePiece(memoryview(b"raw"), (), 3)
    shard = read_block(PB, _unixfs(b"\x08\x05\x28\x22\x30\x80\x02", Link(CID, "0Aname", 1)))
    assert isinstance(shard, Shard)
    assert (shard.fanout, shard.prefix) == (256, 2)


@pytest.mark.parametrize(
    ("block", "error", "sentence"),
    [
        (_unixfs(b"\x08\x03"), UnsupportedContent, "of a kind"),
        (_unixfs(b""), UnsupportedContent, "of a kind"),
        (LINK, UnsupportedContent, "neither a file nor a folder"),
        (_unixfs(b"\x0a\x00"), MalformedContent, "the wrong type"),
        (_unixfs(b"\x08\x02\x20\x01"), MalformedContent, "one size for each"),
        (_unixfs(b"\x08\x02\x18\x05"), MalformedContent, "a size that its parts do not have"),
        (_unixfs(b"\x08\x04\x12\x01\xff"), MalformedContent, "not UTF-8"),
        (_unixfs(b"\x08\x05\x28\x23\x30\x80\x02"), UnsupportedContent, "a hash that is not handled"),
        (_unixfs(b"\x08\x05\x28\x22\x30\x81\x02"), MalformedContent, "impossible fanout"),
        (_unixfs(b"\x08\x05\x28\x22"), MalformedContent, "impossible fanout"),
        (_unixfs(b"\x08\x05\x28\x22\x30\x80\x02", Link(CID, "0")), MalformedContent, "no slot number"),
    ],
)
def test_damaged_or_foreign_messages_are_refused(block: bytes, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        read_block(PB, block)


def test_another_codec_is_no_file() -> None:
    with pytest.raises(UnsupportedContent, match="codec 0x71"):
        read_block(Cid(1, 0x71, SHA2_256, bytes(32)), b"")
