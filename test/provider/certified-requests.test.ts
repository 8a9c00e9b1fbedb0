import type { IncomingMessage } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import {
  readClientCertificate,
  readClientCertificateKey,
} from "../../src/keys/client-certificate.js";
import { createCertifiedRequests } from "../../src/provider/certificates/certified-requests.js";
import { createTenantFetch } from "../../src/tenants/tenant-fetch.js";
import { presentedCertificate } from "../../src/testing/certificates/presented-certificate.js";
import { testCertificate } from "../../src/testing/index.js";
import { KitServer } from "../../src/testing/provider/provider-servers.js";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const [one, two] = [testCertificate(), testCertificate({ commonName: "second" })];

function settingsOf({ cert, key }: typeof one) {
  return {
    clientCertificate: readClientCertificate(cert),
    clientCertificateKey: readClientCertificateKey(key),
  };
}

/** A server that asks each client for a certificate, and notes it for each connection. */
async function server() {
  const connections = new Map<unknown, (string | undefined)[]>();
  const kit = new KitServer(
    (request: IncomingMessage, response) => {
      const shown = connections.get(request.socket) ?? [];
      connections.set(request.socket, [...shown, presentedCertificate(request)?.thumbprint]);
      response.end();
    },
    { requestsCertificates: true },
  );
  await kit.listen();
  stops.push(() => kit.close());
  return { url: `${kit.origin}/token`, shown: () => [...connections.values()] };
}

/** Two registrations that send three requests each, in turn. */
async function inTurn(url: string, registrations: readonly { fetch: typeof fetch }[]) {
  for (let round = 0; round < 3; round++)
    for (const registration of registrations) await (await registration.fetch(url)).text();
}

describe("two registrations at one origin", () => {
  it.each([
    ["with two certificates", two],
    ["with the same certificate", one],
  ])("share no connection: %s", async (_what, second) => {
    const { url, shown } = await server();
    const registrations = [one, second].map((own) => createCertifiedRequests(settingsOf(own)));
    stops.push(...registrations.map(({ release }) => release));
    await inTurn(url, registrations);
    expect(shown()).toEqual([one, second].map(({ thumbprint }) => Array(3).fill(thumbprint)));
  });

  it("from a source share none either, nor with requests that show no certificate", async () => {
    const { url, shown } = await server();
    const network = createTenantFetch({ internalHosts: ["127.0.0.1"] });
    const registrations = [one, two].map((own) => network.certified(settingsOf(own))!);
    stops.push(...[network, ...registrations].map((each) => () => each.close()));
    await inTurn(url, [network, ...registrations]);
    expect(shown()).toEqual(
      [undefined, one.thumbprint, two.thumbprint].map((shown) => Array(3).fill(shown)),
    );
    expect(
      network.certified({ clientCertificate: null, clientCertificateKey: null }),
    ).toBeUndefined();
  });

  it("from a source still obey the network's rules", async () => {
    const { url, shown } = await server();
    const certified = createTenantFetch().certified(settingsOf(one))!;
    await expect(certified.fetch(url)).rejects.toMatchObject({ reason: "address_refused" });
    expect(shown()).toEqual([]);
  });
});

describe("requests with a certificate", () => {
  it("are never sent to an http address, where nothing would show it", async () => {
    const { fetch } = createCertifiedRequests(settingsOf(one));
    await expect(fetch("http://127.0.0.1:1/token")).rejects.toThrow(
      "A certificate can't be shown to http://127.0.0.1:1.",
    );
  });
});
