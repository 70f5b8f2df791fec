"""Content addressing, pure and without I/O: the caller reads, writes and chooses the thread.

cid        a CID's parts, canonical text and bytes: `Cid`
importer   bytes → blocks and a root CID: `Importer`, and its parts for many threads; `CidPredictor` for the
           CID alone; profiles `KUBO_V0` (the pinning API's default), `KUBO_V1`, `UNIXFS_2025`
folders    imported files → folders: `FolderBuilder`
exporter   blocks → bytes: `read_file`, `list_folder`, `resolve`; `walk_blocks` for writing archives
car        archives of blocks: written as version 1, read as a stream
verifier   a CAR stream → proven files and folders in constant memory: `CarVerifier`
multihash  hash blocks and check them: `verify_block`
jsontext   the text a JSON document is stored as
ipld       values of dag-cbor and dag-json, and their links
dagpb, unixfs, shards, protobuf, varint, murmur3: the formats below; limits; errors
"""
