import { once } from "node:events";
import {
  createServer,
  get as httpGet,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type OutgoingHttpHeaders,
} from "node:http2";
import { connect, type AddressInfo } from "node:net";
import { afterEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import { soleHost, writeReply } from "../../src/adapter.js";
import { idpAuth, type NodeIdpAuth } from "../../src/adapters/node/node.js";
import {
  ConfigurationError,
  type IdpAuthOptions,
  type LogEntry,
  type Session,
} from "../../src/index.js";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { listen } from "./applications/listen.js";
import { UNREACHED, optionsFor } from "../support/options-for.js";
import { browsersAt } from "./browsers-at.js";

const HOUR = 3_600_000;
const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of running.splice(0)) await each.stop();
});

interface Running {
  readonly auth: NodeIdpAuth;
  readonly provider: TestProvider;
  readonly clock: TestClock;
  readonly origin: string;
  readonly port: number;
  browser(): CookieBrowser;
  signedIn(): Promise<CookieBrowser>;
}

/** An application whose listener `build` makes. */
async function start(
  build: (auth: NodeIdpAuth) => RequestListener,
  options: IdpAuthOptions = {},
): Promise<Running> {
  const clock = new TestClock();
  const provider = await startTestProvider({ clock });
  const auth = idpAuth({ ...optionsFor(provider), clock, log: false, ...options });
  const server = await listen(build(auth));
  running.push(server, provider);
  const origin = `http://127.0.0.1:${server.port}`;
  return {
    auth,
    provider,
    clock,
    origin,
    port: server.port,
    ...browsersAt(origin, clock),
  };
}

const stderr = () => vi.spyOn(process.stderr, "write").mockReturnValue(true);

describe("startup checks", () => {
  it.each([
    ["listener", (auth: NodeIdpAuth) => auth.listener(() => undefined)],
    ["start", (auth: NodeIdpAuth) => auth.start()],
  ] as const)("%s runs them, and reports every configuration error at once", (_form, begin) => {
    expect(() =>
      begin(idpAuth({ ...optionsFor(UNREACHED), secretKey: "", clientId: "", log: false })),
    ).toThrow(/E001[^]*E003/);
    const log: LogEntry[] = [];
    begin(idpAuth({ ...optionsFor(UNREACHED), log: (entry) => log.push(entry) }));
    expect(log.map(({ code }) => code)).toEqual(["W001", "W005", "started"]);
  });

  it('`session: "host"` is E002: a server of node:http has no sessions', () => {
    const auth = idpAuth({ ...optionsFor(UNREACHED), session: "host", log: false });
    expect(() => auth.start()).toThrow(ConfigurationError);
    expect(() => auth.start()).toThrow(/E002[^]*node:http has no sessions[^]*store/);
  });
});

describe("handle, for applications that dispatch by themselves", () => {
  it("returns false at once if the path is not ours, and true after our response", async () => {
    const handled: unknown[] = [];
    const app = await start((auth) => {
      auth.start();
      return (request, response) => {
        const answer = auth.handle(request, response);
        handled.push(
          answer === false ? false : answer.then((ours) => [ours, response.headersSent]),
        );
        if (answer === false) response.end("the application's own");
      };
    });
    expect((await app.browser().get("/")).text).toBe("the application's own");
    expect((await app.browser().get("/idpauth/session")).json()).toEqual({
      authenticated: false,
      user: null,
    });
    expect([handled[0], await handled[1]]).toEqual([false, [true, true]]);
  });
});

describe("errors", () => {
  const failing = (error: Error) => [
    () => {
      throw error;
    },
    () => Promise.reject(error),
  ];

  it("by default are 500 in our own words and a stack on stderr; the process and the connection live on", async () => {
    const error = new Error("a secret of the application");
    for (const handler of failing(error)) {
      const app = await start((auth) => auth.listener(handler));
      const written = stderr();
      const answer = await app.browser().get("/");
      expect([answer.status, answer.text]).toEqual([500, "Internal Server Error"]);
      expect(written.mock.calls.map(([text]) => text)).toEqual([`${error.stack ?? ""}\n`]);
      written.mockRestore();
      expect((await app.browser().get("/idpauth/session")).status).toBe(200);
    }
  });

  it("an outage that an accessor meets is 503 with Retry-After by default, and no line on stderr", async () => {
    const app = await start((auth) =>
      auth.listener(async (request, response) =>
        response.end(JSON.stringify((await auth.clientState(request)).user)),
      ),
    );
    const browser = await app.signedIn();
    app.clock.advance(HOUR);
    app.provider.fault("token", { kind: "status", status: 500 });
    const written = stderr();
    const answer = await browser.get("/");
    expect([answer.status, Number(answer.headers["retry-after"]) >= 1]).toEqual([503, true]);
    expect(answer.json()).toMatchObject({ status: 503, code: "provider_unavailable" });
    expect(written).not.toHaveBeenCalled();
  });

  it("what the handler had said of its own response is not part of this one", async () => {
    const app = await start((auth) =>
      auth.listener((_request, response) => {
        response
          .setHeader("Content-Length", "9999")
          .setHeader("Content-Encoding", "gzip")
          .setHeader("Set-Cookie", "half=done");
        throw new Error("too late");
      }),
    );
    stderr();
    const { status, text, headers } = await app.browser().get("/");
    expect([
      status,
      text,
      headers["content-length"],
      headers["content-encoding"],
      headers["set-cookie"],
    ]).toEqual([500, "Internal Server Error", "21", undefined, undefined]);
  });

  it("of a response that is half sent break the connection, so that nobody takes it for the whole one", async () => {
    const app = await start((auth) =>
      auth.listener((_request, response) => {
        response.write("half");
        throw new Error("too late");
      }),
    );
    stderr();
    await expect(fetch(`${app.origin}/`).then((response) => response.text())).rejects.toThrow();
  });

  it("come to onError, the very object; when that fails, the default responds", async () => {
    const error = new Error("the handler's");
    const again = new Error("onError's own");
    const caught: unknown[] = [];
    const written = stderr();
    for (const onError of failing(again)) {
      const app = await start((auth) =>
        auth.listener(() => Promise.reject(error), {
          onError: (seen) => {
            caught.push(seen);
            return onError();
          },
        }),
      );
      expect((await app.browser().get("/")).status).toBe(500);
    }
    expect([caught[0] === error, caught[1] === error, caught.length]).toEqual([true, true, 2]);
    expect(written.mock.calls.map(([text]) => text)).toEqual([
      `${again.stack ?? ""}\n`,
      `${again.stack ?? ""}\n`,
    ]);
  });
});

describe("guards", () => {
  it("hand a router's further arguments on, and give what the handler gives", async () => {
    const given: unknown[] = [];
    const app = await start((auth) => {
      const report = auth.idpRequired((_request, response, parameters: { id: string }) => {
        response.end(parameters.id);
        return "given";
      });
      return auth.listener(async (request, response) => {
        given.push(await report(request, response, { id: "7" }));
      });
    });
    const blocked = await app.browser().get("/reports/7");
    const passed = await (await app.signedIn()).get("/reports/7");
    expect([blocked.status, passed.text]).toEqual([401, "7"]);
    expect(given.at(-1)).toBe("given");
  });

  it("two of one auth before one handler read the session once, and a request that lives long sees a logout", async () => {
    const users: unknown[] = [];
    let go = () => {};
    const waits = new Promise<void>((resolve) => (go = resolve));
    const app = await start((auth) => {
      const twice = auth.idpRequired(
        auth.idpRequired(async (request, response) => {
          users.push((await auth.getSession(request))?.user.email);
          response.write("first");
          await waits;
          users.push((await auth.clientState(request)).user);
          response.end();
        }),
      );
      return auth.listener(twice);
    });
    const browser = await app.signedIn();
    const stream = httpGet(`${app.origin}/`, {
      headers: { cookie: browser.cookies.header(new URL(app.origin)) ?? "" },
    });
    const [message] = (await once(stream, "response")) as [IncomingMessage];
    await once(message, "data");
    await browser.navigate("/idpauth/logout/");
    app.clock.advance(1_001);
    go();
    await once(message.resume(), "end");
    expect(users).toEqual(["ada@example.com", null]);
  });

  it("requests that come down one connection at once have each its own user", async () => {
    const app = await start((auth) =>
      auth.listener(
        auth.idpRequired(async (request, response) =>
          response.end((await auth.getSession(request))?.user.email),
        ),
      ),
    );
    const cookie = (await app.signedIn()).cookies.header(new URL(app.origin)) ?? "";
    const line = (headers: string) => `GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`;
    const socket = connect(app.port, "127.0.0.1");
    socket.write(
      line(`Cookie: ${cookie}\r\n`) + line("") + line(`Cookie: ${cookie}\r\nConnection: close\r\n`),
    );
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text.match(/HTTP\/1\.1 \d+|ada@example\.com|login_required/g)).toEqual([
      "HTTP/1.1 200",
      "ada@example.com",
      "HTTP/1.1 401",
      "login_required",
      "HTTP/1.1 200",
      "ada@example.com",
    ]);
  });
});

describe("requests of other kinds", () => {
  it("OPTIONS * and other targets that are no path are the application's own", async () => {
    const app = await start((auth) =>
      auth.listener((request, response) => response.end(`own ${String(request.url)}`)),
    );
    const answer = await rawRequest(
      app.port,
      "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    expect([answer.status, answer.body]).toEqual([200, "own *"]);
  });

  it("an upgrade that nobody listens for gets a response like any request; a listener can read who it is", async () => {
    const app = await start((auth) => auth.listener((_request, response) => response.end()));
    const upgrade = { connection: "Upgrade", upgrade: "websocket" };
    expect((await app.browser().get("/idpauth/session", { headers: upgrade })).status).toBe(200);

    const cookie = (await app.signedIn()).cookies.header(new URL(app.origin)) ?? "";
    const server = createServer().listen(0, "127.0.0.1");
    const asked = new Promise((resolve) =>
      server.on("upgrade", (request, socket) => {
        socket.destroy();
        resolve(app.auth.getSession(request));
      }),
    );
    await once(server, "listening");
    const outgoing = httpRequest({
      port: (server.address() as AddressInfo).port,
      host: "127.0.0.1",
      headers: { ...upgrade, cookie },
    });
    outgoing.on("error", () => undefined).end();
    expect(await asked).toMatchObject({ user: { email: "ada@example.com" } });
    server.close();
  });

  it("HTTP/2, by its compatibility API: endpoints, guard and accessors, and its own :authority", async () => {
    const app = await start((auth) => auth.listener((_request, response) => response.end()));
    const reports = app.auth.idpRequired(
      async (request: Http2ServerRequest, response: Http2ServerResponse) => {
        response.end((await app.auth.getSession(request))?.user.email ?? "nobody");
      },
    );
    const server = createHttp2Server(
      app.auth.listener((request: Http2ServerRequest, response: Http2ServerResponse) =>
        reports(request, response),
      ),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const client = connectHttp2(`http://127.0.0.1:${port}`);
    const ask = async (headers: OutgoingHttpHeaders) => {
      const stream = client.request(headers);
      const [head] = (await once(stream, "response")) as [Record<string, string | undefined>];
      let body = "";
      for await (const chunk of stream) body += String(chunk);
      return { status: Number(head[":status"]), head, body };
    };
    const cookie = (await app.signedIn()).cookies.header(new URL(app.origin)) ?? "";
    try {
      const probe = await ask({ ":path": "/idpauth/session", cookie });
      expect([
        probe.status,
        (JSON.parse(probe.body) as { authenticated: boolean }).authenticated,
        probe.head["vary"],
      ]).toEqual([200, true, "Cookie"]);
      expect([
        (await ask({ ":path": "/reports", cookie })).body,
        (await ask({ ":path": "/reports" })).status,
      ]).toEqual(["ada@example.com", 401]);
      expect(await ask({ ":path": "/idpauth/", ":method": "HEAD" })).toMatchObject({
        status: 200,
        body: "",
      });

      const login = async (headers: OutgoingHttpHeaders) => {
        const answer = await ask({ ":path": "/idpauth/login/?response=json", ...headers });
        if (answer.status !== 200) return answer.status;
        return new URL(
          (JSON.parse(answer.body) as { redirect_to: string }).redirect_to,
        ).searchParams.get("redirect_uri");
      };
      expect(await login({ ":authority": "app.example" })).toBe(
        "http://app.example/idpauth/login-callback",
      );
      expect(await login({ ":authority": "app.example", host: "app.example" })).toBe(
        "http://app.example/idpauth/login-callback",
      );
      expect(await login({ ":authority": "app.example", host: "evil.example" })).toBe(400);
    } finally {
      client.close();
      server.close();
    }
  });
});

describe("writeReply", () => {
  const reply = {
    status: 200,
    headers: { "Content-Type": "text/plain", Vary: "Cookie" },
    setCookies: ["a=1", "b=2"],
    body: "tief: \u00fc",
  };

  async function written(
    prepare: (response: ServerResponse) => void,
    options: object = {},
    method = "GET",
  ) {
    const server = createServer(options, (_request, response) => {
      prepare(response);
      writeReply(response, reply);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    running.push({ stop: () => new Promise((resolve) => server.close(resolve)) });
    const browser = new CookieBrowser({
      origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      now: () => 0,
    });
    const { status, headers, setCookies, text } = await browser.get("/", { method });
    return {
      status,
      vary: headers.vary,
      length: headers["content-length"],
      chunked: headers["transfer-encoding"],
      setCookies,
      text,
    };
  }

  const whole = {
    status: 200,
    vary: "Cookie",
    length: "8",
    chunked: undefined,
    setCookies: ["a=1", "b=2"],
    text: "tief: \u00fc",
  };

  it("writes the same, whether or not a header was there before", async () => {
    expect(await written(() => undefined)).toEqual(whole);
    expect(await written((response) => response.setHeader("X-Powered-By", "x"))).toEqual(whole);
  });

  it("keeps Vary and Set-Cookie of before", async () => {
    const before = (response: ServerResponse) =>
      response.setHeader("Vary", ["Origin", "Accept"]).setHeader("Set-Cookie", "c=3");
    expect(await written(before)).toEqual({
      ...whole,
      vary: "Origin, Accept, Cookie",
      setCookies: ["c=3", "a=1", "b=2"],
    });
    expect((await written((response) => response.setHeader("Vary", "*"))).vary).toBe("*");
  });

  it("responds to HEAD without a body, on a server too that would throw over one", async () => {
    for (const prepare of [
      () => undefined,
      (response: ServerResponse) => response.setHeader("X-Powered-By", "x"),
    ]) {
      expect(await written(prepare, { rejectNonStandardBodyWrites: true }, "HEAD")).toEqual({
        ...whole,
        text: "",
      });
    }
  });

  it("lets middleware that waits for the head see the headers, and change them", async () => {
    const seen: unknown[] = [];
    const answer = await written((response) => {
      const { writeHead } = response;
      response.writeHead = ((...args: Parameters<typeof writeHead>) => {
        seen.push(response.getHeaders()["content-type"]);
        response.setHeader("Vary", "changed");
        return writeHead.apply(response, args);
      }) as typeof writeHead;
    });
    expect([seen, answer]).toEqual([["text/plain"], { ...whole, vary: "changed" }]);
  });

  it("lets the last of two responses set nothing", async () => {
    expect(await written((response) => response.writeHead(204).flushHeaders())).toMatchObject({
      status: 204,
      setCookies: [],
    });
  });
});

describe("soleHost", () => {
  it.each<[string[], object, string | undefined]>([
    [["Host", "app.example"], {}, "app.example"],
    [["host", "app.example", "HOST", "app.example"], {}, undefined],
    [["X-Host", "x"], {}, undefined],
    [[], { ":authority": "app.example" }, "app.example"],
    [["host", "evil.example"], { ":authority": "app.example" }, undefined],
  ])("of %j and %j is %j", (rawHeaders, headers, expected) => {
    expect(soleHost({ rawHeaders, headers } as unknown as IncomingMessage)).toBe(expected);
  });
});

describe("types", () => {
  const auth = idpAuth({ ...optionsFor(UNREACHED), baseUrl: "https://app.example", log: false });

  it("infer without a word, for http and for http2", () => {
    createServer(
      auth.listener((request, response) => {
        expectTypeOf(request).toEqualTypeOf<IncomingMessage>();
        expectTypeOf(response.writeHead).toBeFunction();
        expectTypeOf(auth.getSession(request)).toEqualTypeOf<Promise<Session | null>>();
      }),
    );
    const guarded = auth.idpRequired((request, response) => {
      expectTypeOf(request).toEqualTypeOf<IncomingMessage>();
      expectTypeOf(response).toEqualTypeOf<ServerResponse>();
    });
    expectTypeOf(guarded).toExtend<RequestListener>();
    expectTypeOf(
      auth.idpRequiredWith({
        navigation: (_request, response, { loginUrl }) =>
          void response.writeHead(302, { location: loginUrl }).end(),
        unavailable: (_request, response, { error }) => void response.writeHead(error.status).end(),
      })(() => undefined),
    ).toExtend<RequestListener>();
    createHttp2Server(
      auth.listener((request: Http2ServerRequest, response: Http2ServerResponse) =>
        response.end(request.authority),
      ),
    );
    expectTypeOf(auth.handle).returns.toEqualTypeOf<false | Promise<true>>();
  });
});
