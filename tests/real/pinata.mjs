// An application of the hosted service's current SDK, pointed at a node: what it prints is read by the test.
import { PinataSDK } from "pinata";

const [base, pinataJwt, served] = process.argv.slice(2);
const endpoints = { endpointUrl: `${base}/v3`, uploadUrl: `${base}/v3`, legacyUploadUrl: `${base}/pinning/pinFileToIPFS` };
const pinata = new PinataSDK({ pinataJwt, ...endpoints });
const { upload, files, groups, gateways } = pinata;
const seen = {};
const refused = async (call) => call.then(() => "", String);
const text = (content, name) => new File([content], name, { type: "text/plain" });

seen.authentication = await pinata.testAuthentication();
seen.group = await groups.public.create({ name: "a group" });
seen.file = await upload.public.file(text("hello world", "hello.txt")).group(seen.group.id).keyvalues({ kind: "greeting" });
seen.file0 = await upload.public.file(text("hello world", "hello.txt")).cidVersion("v0");
seen.again = await upload.public.file(text("hello world", "other.txt"));
seen.json = await upload.public.json({ hello: "world", number: 1.0 }).name("a document");
seen.base64 = await upload.public.base64(Buffer.from("base64").toString("base64"));
seen.url = await upload.public.url(served);
seen.folder = await upload.public.fileArray([text("a", "a.txt"), text("b", "b.txt")]).name("folder");
seen.large = await upload.public.file(new File([new Uint8Array(95_000_000)], "large.bin"));

seen.signed = await upload.public.createSignedURL({ expires: 60, name: "signed.txt", mimeTypes: ["text/*"] });
const guest = new PinataSDK(endpoints);
seen.guest = await guest.upload.public.file(text("from a guest", "guest.txt")).url(seen.signed);
const forFolders = await upload.public.createSignedURL({ expires: 60, forDirectory: true });
seen.guestFolder = await guest.upload.public.fileArray([text("c", "c.txt"), text("d", "d.txt")]).url(forFolders);
try {
  await guest.upload.public.json({ not: "text" }).url(seen.signed);
} catch (error) {
  seen.wrongType = String(error);
}

seen.all = [];
for await (const file of files.public.list().limit(2)) seen.all.push(file.cid);
seen.named = (await files.public.list().name("a document")).files;
seen.inGroup = (await files.public.list().group(seen.group.id)).files;
seen.greetings = (await files.public.list().keyvalues({ kind: "greeting" })).files;
seen.pictures = (await files.public.list().mimeType("image/png")).files;
seen.oldestFirst = (await files.public.list().order("ASC").limit(1)).files;
seen.got = await files.public.get(seen.file.id);
seen.updated = await files.public.update({ id: seen.file.id, name: "renamed", keyvalues: { more: "yes" } });

await groups.public.addFiles({ groupId: seen.group.id, files: [seen.json.id] });
await groups.public.removeFiles({ groupId: seen.group.id, files: [seen.file.id] });
seen.members = (await files.public.list().group(seen.group.id)).files.map((file) => file.id);
seen.groups = (await groups.public.list().name("a gr")).groups;
seen.renamedGroup = await groups.public.update({ groupId: seen.group.id, name: "another" });
seen.gotGroup = await groups.public.get({ groupId: seen.group.id });
seen.deletedGroup = await groups.public.delete({ groupId: seen.group.id });

seen.pinned = await upload.public.cid(seen.json.cid);
seen.queue = await files.public.queue();
seen.failed = await files.public.queue().status("expired").sort("DSC").pageLimit(5).all();
seen.deletedRequest = await refused(files.public.deletePinRequest("none"));
seen.byCid = (await files.public.list().cid(seen.json.cid)).files;
seen.withoutGroup = (await files.public.list().noGroup(true).limit(100)).files.length;
seen.pending = (await files.public.list().cidPending(true)).files;
const archive = await (await fetch(`${base}/ipfs/${seen.json.cid}?format=car`)).blob();
seen.car = await upload.public.file(new File([archive], "some.car")).car();
seen.ownGroups = (await groups.public.list().isPublic(true)).groups;
seen.streamable = await refused(upload.public.file(text("film", "film.mp4")).streamable().then((x) => x));
pinata.config.pinataGateway = base; // the SDK itself writes https:// in front of it
seen.read = await gateways.public.get(seen.json.cid);
seen.deleted = await files.public.delete([seen.json.id, "none"]);
seen.left = (await files.public.list().limit(100)).files.map((file) => file.id);

seen.wrongToken = await refused(new PinataSDK({ ...endpoints, pinataJwt: "wrong" }).upload.public.json({}).then((x) => x));
seen.private = await refused(upload.private.json({}).then((x) => x));
seen.swap = await refused(files.public.addSwap({ cid: seen.file.cid, swapCid: seen.json.cid }));
console.log(JSON.stringify(seen));
