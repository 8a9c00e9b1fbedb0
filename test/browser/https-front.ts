import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";

/** A proxy that ends TLS, as in front of an application in production. It passes the Host header on. */
export interface HttpsFront {
  /** `https://localhost:port` */
  readonly origin: string;
  /** Where requests are passed on to; may be set once the port of the front is known. */
  target: string;
  close(): Promise<void>;
}

export async function startHttpsFront(): Promise<HttpsFront> {
  const server: Server = createServer(selfSigned("localhost"), (incoming, response) => {
    const { method, headers } = incoming;
    const forwarded = { ...headers, "x-forwarded-proto": "https" };
    const passed = request(new URL(incoming.url ?? "/", front.target), { method: method ?? "GET", headers: forwarded }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.writeHead(502).end());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const front: HttpsFront = {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    target: "http://127.0.0.1:9",
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return front;
}

/** A certificate for the moment (RFC 5280), so that no key lies in the repository. */
export function selfSigned(name: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
  const ecdsaWithSha256 = sequence(Buffer.from("06082a8648ce3d040302", "hex"));
  const commonName = sequence(der(0x31, sequence(Buffer.from("0603550403", "hex"), der(0x0c, Buffer.from(name)))));
  const alternativeNames = sequence(Buffer.from("0603551d11", "hex"), der(0x04, sequence(der(0x82, Buffer.from(name)))));
  const day = 24 * 60 * 60 * 1000;
  const time = (moment: number) => der(0x17, Buffer.from(`${new Date(moment).toISOString().slice(2, 19).replace(/[-T:]/g, "")}Z`));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    commonName,
    sequence(time(Date.now() - day), time(Date.now() + day)),
    commonName,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(alternativeNames)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const lines =
    sequence(body, ecdsaWithSha256, signature)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----"].join("\n"),
  };
}

/** One DER value (X.690): tag, length, content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}
