import { createServer as createPlainServer } from "node:http";
import { createServer, type Server } from "node:https";
import {
  createServer as createSocketServer,
  type AddressInfo,
  type LookupFunction,
} from "node:net";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { createTenantFetch } from "../../src/tenants/tenant-fetch.js";
import { stoppedAfterEach } from "../support/stopped-after-each.js";

type Certificate = ReturnType<typeof createCertificate>;

const HOST = "idp.example";
const signal = new AbortController().signal;

describe("[TEN-6] requests to providers that customers have entered", () => {
  const running = stoppedAfterEach();
  let authority: Certificate;
  let good: Certificate;
  let server: Server;
  let origin: string;
  let requests: string[];
  let addresses: string[];
  let lookups: number;

  const lookup: LookupFunction = (_hostname, _options, done) => {
    lookups += 1;
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };

  beforeAll(() => {
    authority = createCertificate({ name: "Test CA", isAuthority: true });
    good = createCertificate({ name: HOST, authority });
  });

  beforeEach(async () => {
    requests = [];
    addresses = ["127.0.0.1"];
    lookups = 0;
    server = createServer(good, (request, response) => {
      requests.push(`${String(request.method)} ${String(request.url)}`);
      if (request.url === "/moved") response.writeHead(302, { Location: "/elsewhere" });
      if (request.url === "/headers") response.end(JSON.stringify(request.headers));
      else response.end("hello");
    });
    origin = `https://${HOST}:${String(await listening(server))}`;
  });

  async function listening(
    started: Server | ReturnType<typeof createPlainServer>,
  ): Promise<number> {
    await new Promise<void>((done) => started.listen(0, "127.0.0.1", done));
    running.push(async () => {
      started.closeAllConnections();
      await new Promise((done) => started.close(done));
    });
    return (started.address() as AddressInfo).port;
  }

  function tenantFetch(rules: Parameters<typeof createTenantFetch>[0] = {}) {
    const created = createTenantFetch({ lookup, ca: authority.cert, ...rules });
    running.push(() => {
      created.close();
    });
    return created;
  }

  const internal = () => tenantFetch({ internalHosts: [new URL(origin).host] });

  async function rejection(sent: Promise<unknown>): Promise<unknown> {
    const error = (await sent.then(
      () => "no rejection",
      (reason: unknown) => reason,
    )) as { reason?: string; cause?: { code?: string }; code?: string };
    return error.reason ?? error.cause?.code ?? error.code ?? error;
  }

  it("reach an internal host over TLS", async () => {
    const { fetch } = internal();
    const response = await fetch(`${origin}/path?query`, { method: "POST", body: "x" });
    expect([response.status, await response.text()]).toEqual([200, "hello"]);
    expect(requests).toEqual(["POST /path?query"]);
  });

  it("reach an internal host without TLS, whose address is one of this machine", async () => {
    const plain = createPlainServer((_request, response) => response.end("plain"));
    const host = `127.0.0.1:${String(await listening(plain))}`;
    const { fetch } = tenantFetch({ internalHosts: [host] });
    expect(await (await fetch(`http://${host}/`)).text()).toBe("plain");
    expect(await rejection(tenantFetch().fetch(`http://${host}/`))).toBe("address_refused");
  });

  it.each([
    ["of an unknown authority", () => ({}), "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    [
      "of another host",
      () => ({ served: createCertificate({ name: "other.example", authority }) }),
      "ERR_TLS_CERT_ALTNAME_INVALID",
    ],
    [
      "that has expired",
      () => ({ served: createCertificate({ name: HOST, authority, until: Date.now() - 1000 }) }),
      "CERT_HAS_EXPIRED",
    ],
    [
      "that is self-signed",
      () => ({ served: createCertificate({ name: HOST }) }),
      "DEPTH_ZERO_SELF_SIGNED_CERT",
    ],
  ])("refuse a certificate %s, also of an internal host", async (what, make, code) => {
    const { served } = make() as { served?: Certificate };
    if (served !== undefined) server.setSecureContext(served);
    const { fetch } = createTenantFetch({
      lookup,
      internalHosts: [HOST],
      ...(what !== "of an unknown authority" && { ca: authority.cert }),
    });
    expect(await rejection(fetch(origin))).toBe(code);
    expect(requests).toEqual([]);
  });

  it("verify certificates also if the environment says otherwise", async () => {
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      server.setSecureContext(createCertificate({ name: HOST }));
      expect(await rejection(internal().fetch(origin))).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
    } finally {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
    }
  });

  it.each([
    ["this machine", ["127.0.0.1"]],
    ["metadata", ["169.254.169.254"]],
    ["metadata", ["fd00:ec2::254"]],
    ["a public address and this machine", ["8.8.8.8", "127.0.0.1"]],
    ["a mapped address", ["::ffff:127.0.0.1"]],
  ])("open no connection for a name of %s", async (_what, resolved) => {
    let connections = 0;
    server.on("connection", () => (connections += 1));
    addresses = resolved;
    const { fetch, navigate } = tenantFetch();
    expect(await rejection(fetch(origin))).toBe("address_refused");
    expect(await rejection(navigate(new URL(origin), signal))).toBe("address_refused");
    expect([lookups, connections]).toEqual([2, 0]);
  });

  it("look a name up once for a connection, so that it can't change in between", async () => {
    addresses = ["192.0.2.1"];
    const { fetch } = tenantFetch();
    expect(await rejection(fetch(origin))).toBe("address_refused");
    expect(lookups).toBe(1);
  });

  it.each(["https://127.0.0.1:PORT", "https://2130706433:PORT", "https://[::ffff:127.0.0.1]:PORT"])(
    "open no connection for the literal %s, for which nothing is looked up",
    async (literal) => {
      let connections = 0;
      server.on("connection", () => (connections += 1));
      const address = literal.replace("PORT", new URL(origin).port);
      const { fetch, navigate } = tenantFetch();
      expect(await rejection(fetch(address))).toBe("address_refused");
      expect(await rejection(fetch(new URL(address)))).toBe("address_refused");
      expect(await rejection(fetch(new Request(address)))).toBe("address_refused");
      expect(await rejection(navigate(new URL(address), signal))).toBe("address_refused");
      expect([lookups, connections]).toEqual([0, 0]);
    },
  );

  it("follow no redirect, whatever the caller says", async () => {
    const { fetch, navigate } = internal();
    const response = await fetch(`${origin}/moved`, { redirect: "follow" });
    expect([response.status, response.headers.get("location")]).toEqual([302, "/elsewhere"]);
    await response.text();
    expect(await navigate(new URL(`${origin}/moved`), signal)).toEqual({
      status: 302,
      location: "/elsewhere",
    });
    expect(requests).toEqual(["GET /moved", "GET /moved"]);
  });

  it("ignore a dispatcher that the caller gives", async () => {
    const dispatcher = { dispatch: () => expect.unreachable() };
    const response = await internal().fetch(origin, { dispatcher } as unknown as RequestInit);
    expect(await response.text()).toBe("hello");
  });

  it("navigate as a browser does", async () => {
    let headers = {};
    server.on("request", (request) => (headers = request.headers));
    const landing = await internal().navigate(new URL(`${origin}/?a=b`), signal);
    expect(landing).toEqual({ status: 200, location: null });
    expect(headers).toMatchObject({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" });
    expect(requests).toEqual(["GET /?a=b"]);
  });

  it("end when their signal is aborted", async () => {
    const silent = createSocketServer();
    await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
    const { port } = silent.address() as AddressInfo;
    const { fetch, navigate } = tenantFetch({ internalHosts: [HOST] });
    const deadline = new AbortController();
    const address = `https://${HOST}:${String(port)}/`;
    const accepted = new Promise<void>((done) =>
      silent.on("connection", (socket) => {
        running.push(() => socket.destroy());
        done();
      }),
    );
    running.push(() => silent.close());
    const sent = [
      fetch(address, { signal: deadline.signal }),
      navigate(new URL(address), deadline.signal),
    ].map((one) =>
      one.then(
        () => "no rejection",
        (error: Error) => error.name,
      ),
    );
    await accepted;
    deadline.abort();
    expect(await Promise.all(sent)).toEqual(["AbortError", "AbortError"]);
  });

  it("use a connection again, and open a new one after close()", async () => {
    let connections = 0;
    server.on("secureConnection", () => (connections += 1));
    const created = internal();
    for (let index = 0; index < 10; index += 1) await (await created.fetch(origin)).text();
    // The first one may not be free yet when the second request is sent.
    const before = connections;
    expect([before <= 2, lookups === before]).toEqual([true, true]);
    created.close();
    await (await created.fetch(origin)).text();
    expect(connections).toBe(before + 1);
  });

  it("don't share connections with those of other rules", async () => {
    await (await internal().fetch(origin)).text();
    expect(await rejection(tenantFetch().fetch(origin))).toBe("address_refused");
  });
});
