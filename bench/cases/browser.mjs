// The time until a sign-out shows in all tabs of a browser, with and without the event stream.
import { startChild } from "../children.mjs";
import { numberRow } from "../report.mjs";
import { clientOf } from "../sign-in.mjs";

const TABS = 10;

/** Milliseconds until a sign-out shows in a tab. */
const GOAL = { atMost: 200 };

/** Waits until each tab has the status, and gives what an expression has there. */
async function inEach(tabs, status, expression) {
  return Promise.all(
    tabs.map(async (tab) => {
      await tab.waitForFunction((wanted) => self.auth?.getState().status === wanted, status, {
        polling: 20,
      });
      return tab.evaluate(expression);
    }),
  );
}

/**
 * Opens ten tabs, signs in in the first, signs out, and takes the times of the others; as often as
 * the settings say.
 *
 * @param signOut ends the session; gives the tabs whose time counts, and when the sign-out began
 */
async function measure(name, { provider, settings, startBrowser }, events, signOut) {
  const server = await startChild("browser-server.mjs", {
    provider: clientOf(provider),
    sub: provider.person.sub,
    events,
  });
  const browser = await startBrowser();
  try {
    const origin = await server.call("origin");
    const context = await browser.newContext();
    const tabs = await Promise.all(Array.from({ length: TABS }, () => context.newPage()));
    const times = [];
    for (let run = 0; run < settings.signOuts; run += 1) {
      await tabs[0].goto(`${origin}/idpauth/login/`);
      // A browser without windows shows every page as visible, but of ten tabs in one window only
      // one is, and has the event stream.
      await Promise.all(
        tabs.map((tab, index) => tab.goto(`${origin}/${events && index === 0 ? "?events" : ""}`)),
      );
      await inEach(tabs, "signed-in", "undefined");
      // The event stream opens after the page knows that the user is signed in.
      if (events) await new Promise((resolve) => setTimeout(resolve, 300));
      const { others, at } = await signOut(tabs, server);
      for (const signedOutAt of await inEach(others, "signed-out", "self.signedOutAt"))
        times.push(signedOutAt - at);
    }
    times.sort((one, other) => one - other);
    const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
    const note = `p50 ${at(0.5)} ms, slowest ${times.at(-1)} ms; ${settings.signOuts} sign-outs, ${TABS} tabs`;
    return { times, row: numberRow(`${name}, p99`, at(0.99), GOAL, note, { unit: "ms" }) };
  } finally {
    await browser.close();
    server.stop();
  }
}

/** The user signs out in the first tab. */
async function byUser(tabs) {
  const at = await tabs[0].evaluate(
    "(() => { const at = Date.now(); void auth.signOut(); return at; })()",
  );
  return { others: tabs.slice(1), at };
}

/** The server ends the session, as a back-channel logout does. */
const byServer = async (tabs, server) => ({ others: tabs, at: await server.call("end") });

export async function browser(context) {
  const cases = [
    ["signOut() in one tab until the others show it", false, byUser],
    ["signOut() in one tab until the others show it, with the event stream", true, byUser],
    ["an end on the server until all tabs show it, with the event stream", true, byServer],
  ];
  const rows = [];
  const times = {};
  for (const [name, events, signOut] of cases) {
    const measured = await measure(name, context, events, signOut);
    rows.push(measured.row);
    times[name] = measured.times;
  }
  return { times, rows };
}
