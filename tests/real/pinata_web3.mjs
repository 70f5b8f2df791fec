// An application of the hosted service's own SDK, pointed at a node: what it prints is read by the test.
import { PinataSDK } from "pinata-web3";

const [endpointUrl, pinataJwt] = process.argv.slice(2);
const pinata = new PinataSDK({ pinataJwt, endpointUrl });
const seen = {};

seen.authentication = await pinata.testAuthentication();
seen.json = await pinata.upload.json({ hello: "world", number: 1.0 }).addMetadata({ name: "a document" });
seen.file = await pinata.upload.file(new File(["hello world"], "hello.txt", { type: "text/plain" }));
seen.file0 = await pinata.upload.file(new File(["hello world"], "hello.txt")).cidVersion(0);
seen.folder = await pinata.upload.fileArray([new File(["a"], "a.txt"), new File(["b"], "b.txt")]);
seen.list = await pinata.listFiles().pageLimit(10);
seen.named = await pinata.listFiles().name("a document");
seen.usage = await pinata.usage.pinnedFileCount();
seen.unpin = await pinata.unpin([seen.json.IpfsHash]);
seen.after = await pinata.listFiles();
try {
  await new PinataSDK({ pinataJwt: "wrong", endpointUrl }).upload.json({});
} catch (error) {
  seen.refused = String(error);
}
console.log(JSON.stringify(seen));
