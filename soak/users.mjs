// The load: many users, each with a browser. They sign in, open pages, use the API through the
// proxy, return, sign out, and send bad requests.
import { CookieBrowser } from "idpauth/testing";
import { createApiUser } from "./api-user.mjs";

/** What a user does next, with weights. */
const WEIGHTS = {
  probe: 40,
  reports: 25,
  open: 10,
  index: 4,
  signOut: 3,
  abandon: 5,
  forge: 4,
  bad: 4,
  leave: 3,
  details: 2,
  items: 10,
  download: 6,
  upload: 6,
  leaveDownload: 3,
  leaveUpload: 3,
  events: 5,
  webSocket: 5,
};

/** What tells a click on a link from a script's request. */
const NAVIGATION = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

/**
 * @param {{ origin: string, provider: any, tell: (response: { what: string, status: number, milliseconds: number, isTold: boolean }) => void, random: () => number, live: import("./api-user.mjs").Live }}
 *   around a status of 0 means that no response came, or not all of it
 */
export function createUser({ origin, provider, tell, random, live }, number) {
  const browser = new CookieBrowser({ origin });
  const person = {
    sub: `person-${String(number)}`,
    email: `person-${String(number)}@example.com`,
    name: `Person ${String(number)}`,
  };
  let isSignedIn = false;
  const cookie = () => browser.cookies.header(new URL(origin));
  const api = createApiUser({ origin, tell, random, live, cookie });

  async function ask(what, path, options = {}) {
    const started = performance.now();
    const response = await browser.get(path, options).catch((error) => {
      tell({ what, status: 0, milliseconds: performance.now() - started, isTold: false });
      throw error;
    });
    const isTold =
      response.status !== 503 ||
      (response.headers["retry-after"] !== undefined &&
        /unavailable|"authenticated":false/.test(response.text));
    tell({ what, status: response.status, milliseconds: performance.now() - started, isTold });
    return response;
  }

  async function signIn() {
    const login = await ask(
      "login",
      "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=" +
        encodeURIComponent(`${origin}/reports`),
      { headers: NAVIGATION },
    );
    if (login.status !== 302) return;
    const callback = new URL(await provider.signInCode(login.location, person));
    const response = await ask("callback", callback.pathname + callback.search, {
      headers: NAVIGATION,
    });
    isSignedIn = response.status === 302;
  }

  const acts = {
    async probe() {
      const response = await ask("probe", "/idpauth/session");
      if (response.status === 200) isSignedIn = response.json().authenticated;
    },
    reports: () => ask("reports", "/reports"),
    open: () => ask("open", "/open"),
    index: () => ask("index", "/idpauth/"),
    details: () => ask("probe", "/idpauth/session?details=true&slide=false"),
    async signOut() {
      const signedOut = api.signsOut();
      const { status } = await ask("logout", "/idpauth/logout/?response=json").catch((error) => {
        signedOut(false);
        throw error;
      });
      signedOut(status === 200);
      isSignedIn = false;
    },
    abandon: () => ask("login", "/idpauth/login/?response=json"),
    forge: () =>
      ask("forged callback", "/idpauth/login-callback?code=x&state=y&iss=z", {
        headers: NAVIGATION,
      }),
    bad: () =>
      ask("bad login", "/idpauth/login/?scheme=NO_SUCH&response=none", { headers: NAVIGATION }),
    /** Sends a request and disconnects before the response. */
    leave: () => api.leave("/idpauth/session", random() * 4),
    ...api.acts,
  };

  return {
    async act() {
      if (!isSignedIn && random() < 0.5) return signIn();
      return acts[weighed(random())]();
    },
    /** Closes what is open. */
    leaveAll: () => api.leaveAll(),
  };
}

const TOTAL = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);

function weighed(share) {
  let left = share * TOTAL;
  for (const [name, weight] of Object.entries(WEIGHTS)) if ((left -= weight) < 0) return name;
  return "probe";
}

/** The same numbers for the same seed (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
