// These two come before anything of Next.js: they install it, and prepare the process for it.
import "./applications/next-installed.js";
import { serveNext, type NextServer } from "./applications/next.js";
import { connect, createServer, type AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  ApplicationStarter,
  type StartedApplication,
} from "../../packages/idpauth-conformance/src/adapter/application-starter.js";
import type {
  BrowserRequestOptions,
  BrowserResponse,
  CookieBrowser,
} from "../../src/testing/browser/cookie-browser.js";

/** What only the action gives: it redirects to this. */
const RAN = /greetings|ada%40example\.com/;

describe("[ATT-9] a server action of Next.js", () => {
  let server: NextServer;
  let starter: ApplicationStarter | undefined;
  /**
   * The application's port. Next.js forwards an action to the port that it was started with, which
   * leads there.
   */
  let port = 0;
  const relay = createServer((socket) => {
    const onward = connect(port, "127.0.0.1");
    for (const each of [socket, onward]) each.on("error", () => undefined);
    socket.pipe(onward).pipe(socket);
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
    server = await serveNext((relay.address() as AddressInfo).port);
  }, 300_000);
  afterAll(async () => {
    await server.close();
    relay.close();
  });
  // Next.js writes a stack for each action that it does not find.
  beforeEach(() => {
    for (const level of ["error", "warn"] as const) vi.spyOn(console, level).mockReturnValue();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await starter?.stop();
  });

  interface Target {
    readonly app: StartedApplication;
    readonly ada: CookieBrowser;
    /**
     * The ids of the actions of /members, which the proxy guards, and of /welcome, which is for
     * everybody.
     */
    readonly guarded: string;
    readonly open: string;
  }

  async function start(csrf = false): Promise<Target> {
    starter = new ApplicationStarter({ name: "Next.js", start: server.start }, "bundled");
    const app = await starter.start({ csrf });
    ({ port } = app);
    const ada = await app.signedIn();
    const idOn = async (page: string) =>
      /name="\$ACTION_ID_([0-9a-f]+)"/.exec((await ada.navigate(page)).text)?.[1] ?? "";
    const [guarded, open] = [await idOn("/members"), await idOn("/welcome")];
    expect([guarded.length > 20, open.length > 20, guarded === open]).toEqual([true, true, false]);
    return { app, ada, guarded, open };
  }

  /**
   * The two ways in which browsers call an action: a form without scripts, and a fetch by the
   * router of Next.js.
   */
  function calls(
    id: string,
    headers: Record<string, string | string[]>,
  ): readonly BrowserRequestOptions[] {
    const form = [
      "--x",
      `Content-Disposition: form-data; name="$ACTION_ID_${id}"`,
      "",
      "",
      "--x--",
      "",
    ].join("\r\n");
    return [
      {
        method: "POST",
        body: form,
        headers: {
          "content-type": "multipart/form-data; boundary=x",
          accept: "text/html",
          ...headers,
        },
      },
      {
        method: "POST",
        body: "[]",
        headers: {
          "next-action": id,
          accept: "text/x-component",
          "content-type": "text/plain;charset=UTF-8",
          ...headers,
        },
      },
    ];
  }

  const hasRun = ({ location = "", headers, text }: BrowserResponse) =>
    RAN.test(`${location} ${String(headers["x-action-redirect"])} ${text}`);

  it("whose id a signed-out stranger knows runs for them on no page, also with the headers by which Next.js forwards actions to itself", async () => {
    const { app, ada, guarded, open } = await start();
    const { origin } = app;
    for (const id of [guarded, open]) {
      for (const page of [
        "/welcome",
        "/alone",
        "/members",
        "/members/ada",
        "/members/notice",
        "/",
        "/idpauth/",
        "/api/who",
      ]) {
        for (const headers of [
          { origin },
          { origin, "x-action-forwarded": "1" },
          { origin, "x-forwarded-host": new URL(origin).host },
        ]) {
          for (const call of calls(id, headers)) {
            const response = await app.browser().get(page, call);
            expect(
              hasRun(response),
              `${page} ${JSON.stringify(call.headers)}: ${response.location ?? response.text.slice(0, 200)}`,
            ).toBe(false);
          }
        }
      }
    }
    // The same calls of a signed-in user run, also by way of another page, which forwards them.
    for (const call of calls(guarded, { origin }).slice(1))
      expect(hasRun(await ada.get("/welcome", call))).toBe(true);
    for (const call of calls(guarded, { origin }))
      expect(hasRun(await ada.get("/members", call))).toBe(true);
    for (const call of calls(open, { origin }))
      expect(hasRun(await ada.get("/welcome", call))).toBe(true);
  });

  it.each([
    ["Next.js itself", false],
    ["auth.csrf in the proxy", true],
  ])(
    "that another site calls in a signed-in user's browser is refused by %s",
    async (_name, csrf) => {
      const { app, ada, guarded } = await start(csrf);
      // An empty list: the browser sends no such header.
      const none = { "sec-fetch-site": [] };
      const foreign: Record<string, string | string[]>[] = [
        { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
        { origin: "null", "sec-fetch-site": "cross-site" },
        { origin: app.origin.replace("127.0.0.1", "evil.example"), "sec-fetch-site": "same-site" },
        { ...none, origin: "https://evil.example" },
        ...(csrf
          ? [
              none,
              { origin: app.origin, "sec-fetch-site": "same-site" },
              { ...none, "x-idpauth": "" },
            ]
          : []),
      ];
      for (const headers of foreign) {
        for (const call of calls(guarded, headers)) {
          const response = await ada.get("/members", call);
          expect([response.status >= 400, hasRun(response)], JSON.stringify(headers)).toEqual([
            true,
            false,
          ]);
          if (csrf) expect(response.status).toBe(403);
        }
      }
    },
  );

  it("of a page behind the proxy, called by a stranger with the internal headers of Next.js, gets 401, and the page shows nothing", async () => {
    const { app, guarded } = await start();
    const { origin } = app;
    const names = ["proxy", "middleware", "src/proxy", "src/middleware", "pages/_middleware"];
    const internal: Record<string, string>[] = [
      ...names.map((name) => ({ "x-middleware-subrequest": Array(6).fill(name).join(":") })),
      { "x-middleware-subrequest-id": "1", "x-middleware-skip": "1", "x-middleware-next": "1" },
      {
        "x-middleware-rewrite": "/welcome",
        "x-middleware-override-headers": "cookie",
        "x-middleware-request-cookie": "idpauth=x",
      },
      {
        "x-nextjs-data": "1",
        "x-nextjs-rewrite": "/welcome",
        "x-matched-path": "/welcome",
        "x-now-route-matches": "1=welcome",
      },
      { "x-invoke-path": "/welcome", "x-invoke-status": "200", "x-invoke-output": "/welcome" },
      { "x-idpauth-target": "/welcome", "x-original-url": "/welcome", "x-rewrite-url": "/welcome" },
      {
        rsc: "1",
        "next-router-state-tree": "%5B%22%22%5D",
        "next-router-prefetch": "1",
        "next-url": "/welcome",
      },
    ];
    for (const headers of internal) {
      for (const call of calls(guarded, { origin, ...headers })) {
        const response = await app.browser().get("/members", call);
        expect([response.status, hasRun(response)], JSON.stringify(headers)).toEqual([401, false]);
      }
      for (const page of ["/members", "/members/ada", "/members/notice"]) {
        const { text, status } = await app.browser().get(page, { headers });
        expect(
          [status, /Welcome,|About|For members only/.test(text)],
          `${page} ${JSON.stringify(headers)}`,
        ).toEqual([401, false]);
      }
    }
    expect(app.caught).toEqual([]);
  });
});
