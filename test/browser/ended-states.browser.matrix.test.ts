import { afterEach, describe, expect, it } from "vitest";
import { chromiumForTests, IN_A_BROWSER } from "../support/chromium.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { useStage } from "./stage.js";
import { expectUsable, heading, indexSays } from "./test-user.js";

const executablePath = await chromiumForTests();

// Real processes live in real seconds: the limits here are one or two of them.
describe.skipIf(executablePath === undefined)(
  "how a session ends, in a browser",
  IN_A_BROWSER,
  () => {
    const stage = useStage(executablePath);
    const providers: TestProvider[] = [];
    afterEach(() => Promise.all(providers.splice(0).map((provider) => provider.stop())));

    it.each([
      {
        state: "the maximum age",
        env: { IDP_SESSION_MAX_AGE: "1" },
        says: ["Staying active does not extend it", "IDP_SESSION_MAX_AGE = 1 second"],
      },
      {
        state: "the idle timeout",
        env: { IDP_SESSION_IDLE_TIMEOUT: "1" },
        says: ["You were inactive", "IDP_SESSION_IDLE_TIMEOUT = 1 second"],
      },
      {
        state: "automatic renewal being off",
        env: { IDP_SESSION_AUTO_REFRESH: "off", DEMO_ID_TOKEN_SECONDS: "1" },
        says: ["does not renew it automatically", "IDP_SESSION_AUTO_REFRESH off"],
      },
      {
        state: "a provider that gave no refresh token",
        env: { SCOPE: "openid email profile", DEMO_ID_TOKEN_SECONDS: "1" },
        says: ["the provider did not send a refresh token"],
      },
      {
        state: "the maximum age, in the host's sessions",
        env: { IDP_SESSION_MAX_AGE: "1", DEMO_SESSIONS: "host" },
        says: ["= 1 second"],
      },
    ])(
      "$state ends it: the landing page names the reason, the guard requires a sign-in, the probe reports it",
      async ({ env, says }) => {
        const { user } = await stage.open(env);
        const tab = await user.signIn();
        await indexSays(user, tab, "Your session has ended");
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

        // The guarded page is not shown; the way back in is the full one, and it leads to the page
        // that was asked for.
        await tab.goto(user.url("/reports?ended=1"));
        expect(await heading(tab)).toBe("Who is signing in?");
        // On a slow machine the new session may have ended again by then, so the page itself is not
        // looked at.
        const back = tab.waitForRequest(user.url("/reports?ended=1"));
        await tab.getByRole("button", { name: "Ada Lovelace" }).click();
        await back;
      },
    );

    it("a provider that refuses to renew ends it, and gets no further request", async () => {
      const provider = await startTestProvider({
        idTokenSeconds: 1,
        person: { sub: "ada", name: "Ada Lovelace", email: "ada@example.com" },
      });
      providers.push(provider);
      const { user } = await stage.open({
        IDP_ISSUER: provider.issuer,
        IDP_CLIENT_ID: provider.clientId,
        IDP_CLIENT_SECRET: provider.clientSecret,
      });
      const tab = await user.askFor("/idpauth/login/");
      expect(await heading(tab)).toBe("You are signed in");
      provider.revokeAll();
      const probe = async () => {
        await tab.goto(user.url("/idpauth/session"));
        return (JSON.parse(await tab.innerText("pre")) as { authenticated: boolean }).authenticated;
      };
      await expect.poll(probe).toBe(false);
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
        idTokenSeconds: 1,
        person: { sub: "ada", name: "Ada Lovelace" },
      });
      providers.push(provider);
      const { user } = await stage.open({
        IDP_ISSUER: provider.issuer,
        IDP_CLIENT_ID: provider.clientId,
        IDP_CLIENT_SECRET: provider.clientSecret,
      });
      const tab = await user.askFor("/reports");
      expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
      await provider.pause();
      const status = async () => (await tab.goto(user.url("/reports")))?.status();
      await expect.poll(status).toBe(503);
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
      providers.push(provider);
      const { user } = await stage.open({
        IDP_ISSUER: provider.issuer,
        IDP_CLIENT_ID: provider.clientId,
        IDP_CLIENT_SECRET: provider.clientSecret,
      });
      await provider.pause();
      const tab = await user.tab();
      expect((await tab.goto(user.url("/reports")))?.status()).toBe(503);
      expect(await heading(tab)).toBe("The identity provider cannot be reached right now");
      await expectUsable(tab);
      expect(await user.context.cookies()).toEqual([]);
    });

    it.each([{ DEMO_SESSIONS: "memory" }, { DEMO_SESSIONS: "host" }])(
      "an ID token that runs out is renewed silently, in two tabs, with %o",
      async (env) => {
        const { user } = await stage.open({ ...env, DEMO_ID_TOKEN_SECONDS: "2" });
        const first = await user.signIn("/reports");
        const second = await user.askFor("/reports");
        const expiry = async () => {
          await second.goto(user.url("/idpauth/session?details=true&slide=false"));
          return JSON.parse(await second.innerText("pre")) as {
            authenticated: boolean;
            expires_in: number;
          };
        };
        for (let renewal = 0; renewal < 2; renewal += 1) {
          const { expires_in: seconds } = await expiry();
          await first.waitForTimeout(seconds * 1000 + 20);
          await Promise.all([first.reload(), second.goto(user.url("/reports"))]);
          for (const tab of [first, second])
            expect(await tab.innerText("main")).toContain("Signed in as Ada Lovelace");
          await first.goto(user.url("/api/userinfo"));
          expect(JSON.parse(await first.innerText("pre"))).toMatchObject({ sub: "ada" });
          await first.goto(user.url("/reports"));
        }
      },
    );
  },
);
