"""The async SDK: `Client` on a `StorageProvider`. Import its names from `pinui`.

client         the front door: store, retrieve, upload, download, send, receive, revoke and more
provider       `StorageProvider` and the small protocols for everything else that a provider can do
traits         the needs and abilities of each kind of service, known before a client opens
models, errors, secret   the values
address, urls, names     parsing addresses, allowed servers, safe file names

providers/     one file a service: the pinning API, Kubo, IPFS Cluster, the Pinning Service API
reading/       gateways in order, each answer checked against its CID; sinks, the targets of downloads
writing/       upload sources, multipart bodies, prediction of CIDs
transport/     requests with limits, redirects and retries; engine is the one module that imports httpx
"""
