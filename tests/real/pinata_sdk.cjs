// An application of the hosted service's first SDK, with a key and a secret: what it prints is read by the test.
// The SDK knows one address alone, so what it sends there is led to the node before it is loaded.
const http = require("http");
const https = require("https");

const [base, secret] = process.argv.slice(2);
https.request = ({ method, path, headers }, answered) =>
  http.request({ method, path, headers, hostname: "127.0.0.1", port: new URL(base).port }, answered);

const { Readable } = require("stream");
const PinataSDK = require("@pinata/sdk");
const pinata = new PinataSDK("a key", secret);

(async () => {
  const seen = {};
  const named = (name, keyvalues) => ({ pinataMetadata: { name, keyvalues } });
  seen.authentication = await pinata.testAuthentication();
  seen.json = await pinata.pinJSONToIPFS({ hello: "world" }, { ...named("a document", { size: 3 }), pinataOptions: { cidVersion: 1 } });
  seen.file = await pinata.pinFileToIPFS(Readable.from(["hello world"]), named("hello.txt", { size: 5 }));
  seen.byHash = await pinata.pinByHash(seen.json.IpfsHash, named("again"));
  seen.jobs = await pinata.pinJobs({ sort: "ASC" });
  seen.list = await pinata.pinList({ status: "pinned", metadata: { keyvalues: { size: { value: 4, op: "gt" } } } });
  seen.named = await pinata.pinList({ status: "pinned", metadata: { name: "a doc", keyvalues: {} }, pageLimit: 10 });
  seen.metadata = await pinata.hashMetadata(seen.json.IpfsHash, { name: "renamed", keyvalues: { size: 4 } });
  seen.totals = await pinata.userPinnedDataTotal();
  seen.files = [];
  for await (const file of pinata.getFilesByCount({ status: "pinned" }, 2)) seen.files.push(file.ipfs_pin_hash);
  seen.unpinned = await pinata.unpin(seen.json.IpfsHash);
  console.log(JSON.stringify(seen));
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
