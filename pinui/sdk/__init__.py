"""The async SDK: `Client` on a `StorageProvider`. Import its names from `pinui`.

client         the front door: store, retrieve, upload, download, send, receive, revoke, test_connection
provider       `StorageProvider`, the seam; pin_provider: `PinProvider`, the pinning API and a gateway
models, errors, secret: the values

Pure:
address        what people write to name content → a CID and a path; urls: which servers may be talked to
wire           bodies out, answers and refusals in; retry: whether and when to try again; limiter: rate limits
ranges, names, http: continuing downloads, safe file names, requests and replies as values

With I/O:
sources        what is uploaded; multipart: its body; prediction: the CID that it must get
sinks          where downloads go; folders: whole directories; checking: sinks that verify what passes through
reading        gateways in order, each answer checked against its CID; asking: one gateway at a time;
               gateways: what each of them can do
transport      performs requests: limits, redirects, retries; engine: the one module that knows httpx;
               connections: proxies, names and sockets
"""
