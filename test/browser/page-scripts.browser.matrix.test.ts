import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumForTests } from "../support/chromium.js";
import { useStage } from "./stage.js";
import { choose, type TestUser } from "./test-user.js";

const PAGE = readFileSync(new URL("../../docs/reference/endpoints.md", import.meta.url), "utf8");

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)("a single-page front end, in a browser", () => {
  const stage = useStage(executablePath);

  it("finds out with the probe who is there, without any redirect and without a cookie", async () => {
    const { user } = await stage.open();
    const tab = await frontEnd(user);
    expect(await call(tab, "/idpauth/session")).toEqual({
      status: 200,
      type: "basic",
      body: { authenticated: false, user: null },
    });
    expect(await user.context.cookies()).toEqual([]);
    await user.signIn();
    expect(await call(tab, "/idpauth/session")).toMatchObject({
      body: { authenticated: true, user: { name: "Ada Lovelace" } },
    });
  });

  it("gets 401 with the way to the login from a guarded interface, never a redirect", async () => {
    const { user } = await stage.open();
    const tab = await frontEnd(user);
    expect(await call(tab, "/api/reports")).toEqual({
      status: 401,
      type: "basic",
      body: {
        authenticated: false,
        user: null,
        error: "login_required",
        reason: "no_credentials",
        login_url: "/idpauth/login/",
      },
    });
  });

  it("sends X-ORIGIN-URL as docs/reference/endpoints.md says, navigates to redirect_to, and is loaded again at its very address, fragment and all", async () => {
    const { user } = await stage.open();
    const tab = await frontEnd(user, "/front-end?view=table&q=a%26b#row-7");
    // The very line that the page gives to front ends.
    const [, line = ""] = /`(fetch\([^`]+\))`/.exec(PAGE) ?? [];
    expect(line).toContain("X-ORIGIN-URL");
    const answer = await tab.evaluate<{ redirect_to: string }>(
      `${line}.then((response) => response.json())`,
    );
    expect(answer).toEqual({
      redirect_to: expect.stringContaining("code_challenge_method=S256"),
    });
    await tab.goto(answer.redirect_to);
    await choose(tab, "ada");
    expect(tab.url()).toBe(user.url("/front-end?view=table&q=a%26b#row-7"));
    // The stand-in for the front end is not served at the end of a redirect.
    await tab.reload();
    expect(await call(tab, "/api/reports")).toMatchObject({ status: 200 });
  });

  it("the same with origin_url in the query", async () => {
    const { user } = await stage.open();
    const tab = await frontEnd(user, "/front-end?view=list#top");
    const query = new URLSearchParams({
      scheme: "PRESERVE_ORIGIN_QP",
      response: "json",
      origin_url: tab.url(),
    }).toString();
    const { body } = await call(tab, `/idpauth/login/?${query}`);
    await tab.goto((body as { redirect_to: string }).redirect_to);
    await choose(tab, "alan");
    expect(tab.url()).toBe(user.url("/front-end?view=list#top"));
  });

  it("an address of another site is not honoured: the trip ends on the landing page", async () => {
    const { user } = await stage.open();
    const tab = await user.signIn(
      "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=https://elsewhere.example/",
    );
    expect(tab.url()).toBe(user.url("/idpauth/"));
    expect([...user.asked.keys()].join()).not.toContain("elsewhere");
  });

  it("signs out with a fetch", async () => {
    const { user } = await stage.open();
    await user.signIn();
    const tab = await frontEnd(user);
    const { status, type, body } = (await call(tab, "/idpauth/logout/?response=json")) as {
      body: Record<string, string>;
    } & Record<string, unknown>;
    expect([status, type, body["status"]]).toEqual([200, "basic", "logged_out"]);
    // The provider has a logout of its own. A script gets its address without the ID token.
    expect([...new URL(body["redirect_to"] ?? "").searchParams.keys()]).toEqual([
      "client_id",
      "post_logout_redirect_uri",
      "state",
    ]);
    expect(await call(tab, "/idpauth/session")).toMatchObject({ body: { authenticated: false } });
  });

  describe("signs in in a window of its own", () => {
    /**
     * Opens the login by a click and returns the new window. `heard` collects the messages of the
     * popup's page.
     */
    async function popupOf(
      user: TestUser,
      attempt: string,
      origin = "",
    ): Promise<{ tab: Page; popup: Page }> {
      const tab = await frontEnd(user);
      await tab.evaluate(`
        window.heard = [];
        window.channel = new BroadcastChannel("idpauth:/idpauth/");
        channel.onmessage = ({ data }) => { heard.push(data); channel.postMessage({ type: "received", attempt: data.attempt }); };
        document.body.innerHTML = '<input id="draft"><button>Sign in</button>';
        document.querySelector("button").onclick = () => { window.popup = open("${origin}/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=" + encodeURIComponent(self.origin + "/idpauth/popup?attempt=${attempt}")); };
      `);
      await tab.fill("#draft", "half a sentence");
      const [popup] = await Promise.all([user.context.waitForEvent("page"), tab.click("button")]);
      return { tab, popup };
    }

    it("and keeps its page: the window notifies it and closes", async () => {
      const { user } = await stage.open();
      const { tab, popup } = await popupOf(user, "attempt-0123456789");
      const closed = popup.waitForEvent("close");
      await choose(popup, "ada").catch(() => undefined);
      await closed;
      expect(await tab.evaluate("heard")).toEqual([
        { type: "signed-in", attempt: "attempt-0123456789" },
      ]);
      expect(await tab.inputValue("#draft")).toBe("half a sentence");
      expect(await call(tab, "/idpauth/session")).toMatchObject({
        body: { authenticated: true },
      });
    });

    it("also if a page on the way cuts the tie between the two windows", async () => {
      const { user } = await stage.open();
      // As the page of a provider with this header does.
      const between = createServer((request, response) => {
        response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
        response.setHeader("Content-Type", "text/html");
        response.end(
          `<!doctype html><title>Between</title><a href="${user.url(request.url ?? "")}">On</a>`,
        );
      }).listen(0, "127.0.0.1");
      await once(between, "listening");
      try {
        const { port } = between.address() as AddressInfo;
        const { tab, popup } = await popupOf(
          user,
          "attempt-0123456789",
          `http://127.0.0.1:${String(port)}`,
        );
        await popup.getByRole("link", { name: "On" }).waitFor();
        await expect.poll(() => tab.evaluate("popup.closed")).toBe(true);
        await popup.getByRole("link", { name: "On" }).click();
        await choose(popup, "ada").catch(() => undefined);
        await expect
          .poll(() => tab.evaluate("heard"))
          .toEqual([{ type: "signed-in", attempt: "attempt-0123456789" }]);
        expect(await call(tab, "/idpauth/session")).toMatchObject({
          body: { authenticated: true },
        });
      } finally {
        between.close();
      }
    });

    it("and if that page is gone, the window stays and redirects to the application", async () => {
      const { user } = await stage.open();
      const { tab, popup } = await popupOf(user, "attempt-0123456789");
      await tab.close();
      await choose(popup, "ada");
      await popup.getByRole("link", { name: "Continue in this window" }).click();
      expect(await popup.title()).toContain("Signed in");
    });
  });

  it("another site cannot read the probe, not even with the user's cookies", async () => {
    const { user } = await stage.open();
    await user.signIn();
    // The same host under another name is another site for the browser.
    const elsewhere = user.origin.replace("127.0.0.1", "localhost");
    const tab = await frontEnd(user, `${elsewhere}/front-end`);
    expect(await call(tab, user.url("/idpauth/session"))).toEqual({ failed: true });
    // Chromium tells whoever looks into the console why; nothing else was refused.
    expect(user.complaints.splice(0).join("\n")).toContain("CORS policy");
  });
});

/**
 * A front end of the application's own origin; only its page is made up here, all that it calls is
 * real.
 */
async function frontEnd(user: TestUser, address = "/front-end"): Promise<Page> {
  await user.context.route(
    (url) => url.pathname === "/front-end",
    (route) =>
      route.fulfill({
        contentType: "text/html",
        body: "<!doctype html><html lang=en><title>App</title><h1>App</h1></html>",
      }),
  );
  return user.askFor(address);
}

type Outcome =
  | { readonly status: number; readonly type: string; readonly body: unknown }
  | { readonly failed: true; readonly body?: never };

/** A fetch by the page's own script. */
function call(tab: Page, url: string): Promise<Outcome> {
  return tab.evaluate<Outcome>(
    `fetch(${JSON.stringify(url)}).then(async (r) => ({ status: r.status, type: r.type, body: await r.json() }), () => ({ failed: true }))`,
  );
}
