// How much more memory is in use after each 100,000 probes, or logins that nobody finishes: a process of its own, in which nothing
// else is kept. `node --expose-gc test/security/memory-growth.mjs probes`; says bytes as JSON.
import { createIdpAuth, memoryStore } from "idpauth";
import { startTestProvider, TestClock } from "idpauth/testing";

const ORIGIN = "http://app.example";

const clock = new TestClock();
const provider = await startTestProvider({ clock });
const auth = createIdpAuth(
  {
    env: { ...provider.env, IDP_SESSION_IDLE_TIMEOUT: "7200" },
    store: memoryStore({ clock, maxSessions: 200_000 }),
    clock,
    log: () => undefined,
  },
  { name: "plain", request: (/** @type {import("idpauth").IdpRequest} */ request) => request },
);
auth.start();

/**
 * @param {string} target
 * @param {string} [cookie]
 */
async function get(target, cookie) {
  const reply = await auth.handle({
    method: "GET",
    target,
    scheme: "http",
    host: new URL(ORIGIN).host,
    header: (name) => (name === "cookie" ? cookie : undefined),
  });
  if (reply === undefined) throw new Error(`${target} is not answered`);
  return reply;
}

/** @param {{ readonly setCookies?: readonly string[] }} reply */
const cookieOf = ({ setCookies = [] }) => setCookies[0]?.split(";")[0] ?? "";

async function signIn() {
  const login = await get("/idpauth/login/");
  const callback = new URL(await provider.signInCode(login.headers["Location"] ?? ""));
  return cookieOf(await get(callback.pathname + callback.search, cookieOf(login)));
}

/** Bytes in use after a collection. */
function heap() {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error("node --expose-gc is needed");
  gc();
  gc();
  return process.memoryUsage().heapUsed;
}

const ROUNDS = {
  /** Half of somebody who is signed in, half of strangers with a cookie that leads nowhere. */
  async probes() {
    const member = await signIn();
    return async () => {
      for (let probe = 0; probe < 50_000; probe += 1) {
        await get("/idpauth/session", `idpauth=${String(probe).padStart(43, "A")}`);
        if (probe % 1_000 === 0) clock.advance(1_000);
        const { body } = await get("/idpauth/session", member);
        if (body?.includes('"authenticated":true') !== true) throw new Error("the member is signed out");
      }
    };
  },
  /** Half as many, and then the time after which they lapse. */
  async logins() {
    return async () => {
      for (let login = 0; login < 50_000; login += 1) await get("/idpauth/login/");
      await clock.advanceAsync(700_000);
    };
  },
};

const what = process.argv[2] === "logins" ? "logins" : "probes";
const rounds = what === "logins" ? 1 : 9;
const round = await ROUNDS[what]();
await round();
const warm = heap();
for (let more = 0; more < rounds; more += 1) await round();
const growth = (heap() - warm) / rounds;
await provider.stop();
console.log(JSON.stringify({ growth }));
