import { describe, expect, it } from "vitest";
import { chromiumForTests } from "../support/chromium.js";
import { startTestProvider } from "../../src/testing/provider/test-provider.js";
import { CHOICE } from "./stage-application.js";
import { useStage } from "./stage.js";
import { choose, expectUsable, heading } from "./test-user.js";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)("how a session ends, in a browser", () => {
  const stage = useStage(executablePath);

  it.each([
    {
      state: "the maximum age",
      options: { sessionMaxAge: 60 },
      says: ["Staying active does not extend it", "Maximum age: 1 minute"],
    },
    {
      state: "the idle timeout",
      options: { sessionIdleTimeout: 60 },
      says: ["You were inactive", "Idle timeout: 1 minute"],
    },
    {
      state: "automatic renewal being off",
      options: { sessionAutoRefresh: false, provider: ["--token-seconds=60"] },
      says: ["does not renew it automatically"],
    },
  ])(
    "$state ends it: the landing page names the reason, the guard requires a sign-in, the probe reports it",
    async ({ options, says }) => {
      const { application, user } = await stage.open(options);
      const tab = await user.signIn();
      application.clock.advance(61_000);
      await tab.goto(user.url("/idpauth/"));
      expect(await heading(tab)).toBe("Your session has ended");
      const text = await tab.innerText("main");
      for (const words of says) expect(text).toContain(words);
      expect(text).toContain("You were signed in as");
      expect(text).toContain("Ada Lovelace");
      await expectUsable(tab);

      await tab.goto(user.url("/idpauth/session"));
      expect(JSON.parse(await tab.innerText("pre"))).toEqual({
        authenticated: false,
        user: null,
      });

      await tab.goto(user.url("/reports?ended=1"));
      expect(await heading(tab)).toBe(CHOICE);
      await choose(tab, "ada");
      expect(tab.url()).toBe(user.url("/reports?ended=1"));
      expect(await heading(tab)).toBe("Reports");
    },
  );

  it("a provider that refuses to renew ends it, and gets no further request", async () => {
    const provider = await startTestProvider({
      idTokenSeconds: 60,
      person: { sub: "ada", name: "Ada Lovelace", email: "ada@example.com" },
    });
    const { user } = await stage.open({ provider });
    const tab = await user.askFor("/idpauth/login/");
    expect(await heading(tab)).toBe("You are signed in");
    provider.revokeAll();
    provider.clock.advance(61_000);
    const probe = async () => {
      await tab.goto(user.url("/idpauth/session"));
      return (JSON.parse(await tab.innerText("pre")) as { authenticated: boolean }).authenticated;
    };
    expect(await probe()).toBe(false);
    await tab.goto(user.url("/idpauth/"));
    expect(await heading(tab)).toBe("Your session has ended");
    expect(await tab.innerText("main")).toContain("the provider refused to renew it");
    await expectUsable(tab);
    expect(await probe()).toBe(false);
    expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);

    await tab.goto(user.url("/idpauth/"));
    await tab.getByRole("link", { name: "Sign in again" }).click();
    expect(await heading(tab)).toBe("You are signed in");
  });

  it("a provider that is away keeps the session: the page says 503 and that nobody was signed out, and later all is well", async () => {
    const provider = await startTestProvider({
      idTokenSeconds: 60,
      person: { sub: "ada", name: "Ada Lovelace" },
    });
    const { user } = await stage.open({ provider });
    const tab = await user.askFor("/reports");
    expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
    await provider.pause();
    provider.clock.advance(61_000);
    const status = async () => (await tab.goto(user.url("/reports")))?.status();
    expect(await status()).toBe(503);
    expect(await tab.innerText("main")).toContain("If you were signed in, you still are");
    await expectUsable(tab);
    await tab.goto(user.url("/idpauth/"));
    expect(await heading(tab)).toBe("You are signed in");
    await provider.resume();
    await expect.poll(status).toBe(200);
    expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
  });

  it("a provider that is down cannot sign anybody in: a page that says so and has a way on", async () => {
    const provider = await startTestProvider();
    const { user } = await stage.open({ provider });
    await provider.pause();
    const tab = await user.tab();
    expect((await tab.goto(user.url("/reports")))?.status()).toBe(503);
    expect(await heading(tab)).toBe("The identity provider cannot be reached right now");
    await expectUsable(tab);
    expect(await user.context.cookies()).toEqual([]);
  });

  it("an ID token that runs out is renewed silently, in two tabs", async () => {
    const { application, user } = await stage.open({ provider: ["--token-seconds=60"] });
    const first = await user.signIn("/reports");
    const second = await user.askFor("/reports");
    for (let renewal = 0; renewal < 2; renewal += 1) {
      application.clock.advance(61_000);
      await Promise.all([first.reload(), second.reload()]);
      for (const tab of [first, second])
        expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
    }
  });
});
