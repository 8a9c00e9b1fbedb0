// Sessions that end, and a process that does.
import { setTimeout as wait } from "node:timers/promises";
import { outcomeOf } from "../outcomes.mjs";

const isRefresh = ({ params }) => params.get("grant_type") === "refresh_token";
/** A sign-out may wait for the refresh that is on its way. */
const SIGN_OUT_MILLISECONDS = 1_000;

/** How many of the tokens that the provider has issued since it still accepts. */
function activeSince(provider, before) {
  return provider.issued
    .slice(before)
    .filter(
      ({ kind, value }) => /^(?:access|refresh)_token$/.test(kind) && provider.isActive(value),
    ).length;
}

export const ends = [
  {
    key: "logout",
    title: "The user signs out while a refresh is on its way",
    async run(stage, [browser]) {
      const { provider } = stage;
      const before = provider.issued.length;
      const counts = stage.counted();
      const hold = provider.hold("token", { before: false, when: isRefresh });
      const request = stage.orders(browser);
      await Promise.race([hold.arrived, request]);
      const signOut = stage.signOut(browser).catch(() => undefined);
      await Promise.race([signOut, wait(SIGN_OUT_MILLISECONDS)]);
      hold.release();
      const [outcome] = await Promise.all([request, signOut]);
      const refreshes = [counts().refreshes];
      // A session whose tokens are revoked is a session nevertheless.
      const page = outcomeOf(await browser.get("/page"));
      const isSignedOut = page !== "200" && (await stage.orders(browser)) !== "200";
      const active = activeSince(provider, before);
      const tokens =
        active === 0 ? "the new tokens are revoked" : "the provider still accepts the new tokens";
      return {
        requests: outcome,
        refreshes,
        after: `${isSignedOut ? "signed out" : "**signed in again**"}; ${tokens}`,
        isGood: isSignedOut && active === 0,
      };
    },
  },
  {
    key: "backchannel",
    title: "The provider ends the session by back-channel logout",
    needs: ({ paths }) =>
      paths.backchannelLogout === undefined ? "doesn't support it" : undefined,
    async run(stage, [browser]) {
      const { provider, front, peer } = stage;
      provider.settings.backchannelLogoutUri = front.origin + peer.paths.backchannelLogout;
      try {
        const counts = stage.counted();
        const [response] = await provider.endSession(browser.sub);
        const after = outcomeOf(await browser.get("/page"));
        return {
          requests: `the logout token: ${response?.status ?? "not sent"}`,
          refreshes: [counts().refreshes],
          after: after === "200" ? "**still signed in**" : "signed out",
          isGood: after !== "200",
        };
      } finally {
        provider.settings.backchannelLogoutUri = undefined;
      }
    },
  },
  {
    key: "two-tabs",
    title: "A user signs in in two tabs at once",
    users: 0,
    async run(stage) {
      const browser = stage.newUser();
      stage.choose(browser);
      const { begin, paths } = stage.peer;
      const start = () => begin?.(browser) ?? browser.navigate(paths.login);
      const counts = stage.counted();
      const tabs = [await start(), await start()];
      const landings = [];
      for (const { location } of tabs) {
        const landing = await browser.follow(location);
        landings.push(landing.status);
      }
      const page = await browser.get("/page");
      return {
        requests: `first tab ${landings[0]}, second tab ${landings[1]}`,
        refreshes: [counts().refreshes],
        after: page.status === 200 ? "signed in" : "not signed in",
        isGood: landings.every((status) => status < 400) && page.status === 200,
      };
    },
  },
  {
    key: "killed",
    title:
      "A process is killed after the provider has rotated the token, and the user goes on at another one",
    processes: 2,
    async run(stage, [browser]) {
      const { provider } = stage;
      const [first, second] = stage.instances;
      const counts = stage.counted();
      stage.front.to(first.port);
      const hold = provider.hold("token", { before: false, when: isRefresh });
      const request = stage.orders(browser);
      await Promise.race([hold.arrived, request]);
      await first.kill();
      stage.instances[0] = undefined;
      hold.release();
      const outcome = await request;
      stage.front.to(second.port);
      const after = await stage.afterwards(browser, counts().reuses > 0);
      const refreshes = [counts().refreshes];
      const text = after.isSignedIn ? "signed in" : after.text;
      // The refresh token is spent, so nobody can do better than one new sign-in.
      await stage.signIn(browser);
      const again = await stage.orders(browser);
      return {
        requests: outcome,
        refreshes,
        after: `${text}; after a new sign-in: ${again === "200" ? "all is well" : again}`,
        isGood: again === "200",
      };
    },
  },
];
