// Runs 15 minutes of mixed load with faults. verdict.mjs has the conditions.
//   node soak/run.mjs [--minutes=15] [--users=120] [--seed=1] [--write]
// `--write` writes the picture to docs/screenshots/ and the result to docs/evidence/soak.json.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startTestProvider } from "idpauth/testing";
import { RESOURCE, startApi } from "./api.mjs";
import { EVERY, faults as faultsOf } from "./faults.mjs";
import { runNow } from "../scripts/evidence/commits.mjs";
import { keepEvidence } from "../scripts/evidence/files.mjs";
import { graph } from "./graph.mjs";
import { startRedis } from "./redis.mjs";
import { judge } from "./verdict.mjs";
import { createUser, seeded } from "./users.mjs";

const { values: flags } = parseArgs({
  options: {
    minutes: { type: "string", default: "15" },
    users: { type: "string", default: "120" },
    seed: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
  },
});
const seconds = Number(flags.minutes) * 60;
const count = Number(flags.users);
if (!(seconds >= 70) || !(count >= 1)) {
  console.error(
    "--minutes must be at least 1.2, which one fault and its aftermath take, and --users at least 1",
  );
  process.exit(2);
}
/** Seconds between two samples of the application. */
const INTERVAL = Math.max(1, Math.min(5, seconds / 60));

// The delay of the event loop is the application's, not that of other programs on the machine, which
// the load is too low to disturb. Children inherit the priority.
try {
  setPriority(-10);
} catch {
  console.error("Without the right to raise its priority, the soak measures a busy machine, too.");
}

const random = seeded(Number(flags.seed));
const provider = await startTestProvider({ idTokenSeconds: 15, accessTokenSeconds: 15 });
const api = await startApi(provider);
const redis = await startRedis();
const options = {
  issuer: provider.issuer,
  clientId: provider.clientId,
  clientSecret: provider.clientSecret,
  redis: redis.url,
  api: { url: api.url, resource: RESOURCE },
};
const child = fork(
  fileURLToPath(new URL("application.mjs", import.meta.url)),
  [JSON.stringify(options)],
  {
    execArgv: ["--expose-gc"],
    env: { ...process.env, NODE_ENV: "production" },
  },
);
const exited = once(child, "exit");
const idle = fork(fileURLToPath(new URL("idle.mjs", import.meta.url)));
let isEnding = false;
void exited.then(async ([code, signal]) => {
  if (isEnding) return;
  // Without the application, calls would never return and the run would never end.
  console.error(
    `\nNOT MET: the application lives as long as the soak (it ended: ${String(signal ?? code)})`,
  );
  await redis.stop();
  process.exit(1);
});
const [{ port }] = await once(child, "message");
const origin = `http://127.0.0.1:${String(port)}`;

let calls = 0;
function call(method) {
  calls += 1;
  const id = calls;
  return new Promise((resolve) => {
    const hear = (message) => {
      if (message.id !== id) return;
      child.off("message", hear);
      resolve(message.response);
    };
    child.on("message", hear);
    child.send({ id, method });
  });
}

/** The event-loop delay of a process that does nothing. */
async function idleDelay() {
  idle.send("delay");
  const [delay] = await once(idle, "message");
  idle.disconnect();
  return delay;
}

const began = performance.now();
const now = () => (performance.now() - began) / 1000;
const samples = [];
const faults = [];
const troubles = [];
const responses = { all: 0, unavailable: 0, byWhat: {} };
function tell({ what, status, isTold }) {
  responses.all += 1;
  const key = `${what} ${String(status)}`;
  responses.byWhat[key] = (responses.byWhat[key] ?? 0) + 1;
  // 0: no response came.
  if (status !== 0 && status < 500) return;
  if (status === 503) responses.unavailable += 1;
  troubles.push({ at: now(), what, status, isTold });
}

const { resources: before } = await call("sample");
let isOver = false;
/** The streams and WebSockets of all users. */
const live = { open: 0, cut: 0, late: 0 };
const around = { origin, provider, tell, random, live };
const failures = [];
const users = Array.from({ length: count }, async (_, number) => {
  const user = createUser(around, number);
  while (!isOver) {
    // A missing provider is not the application's failure. `tell` reports requests that got no
    // response from the application.
    await user
      .act()
      .catch((error) => failures.push(String(error?.cause?.code ?? error?.code ?? error)));
    await pause(0.2 + random() * 1.2);
  }
  user.leaveAll();
});

const plan = faultsOf(provider, redis, api);
const wrongs = (async () => {
  await pause(EVERY / 3);
  // The load ends after the last fault has ended and its aftermath has begun.
  for (let turn = 0; !isOver && now() < seconds - 45; turn += 1) {
    const wrong = plan[turn % plan.length];
    const from = now();
    await wrong.begin();
    await pause(wrong.seconds);
    await wrong.end?.();
    const { name, isOfApi = false, losesTokens = false } = wrong;
    faults.push({ name, isOfApi, losesTokens, from, to: now() });
    await pause(EVERY - wrong.seconds);
  }
})();

let seen = { all: 0, unavailable: 0 };
while (now() < seconds) {
  await pause(INTERVAL);
  const sample = await call("sample");
  const rate = (responses.all - seen.all) / INTERVAL;
  const unavailable = (responses.unavailable - seen.unavailable) / INTERVAL;
  seen = { all: responses.all, unavailable: responses.unavailable };
  samples.push({ at: now(), rate, unavailable, ...sample });
  const wrong = faults.at(-1);
  progress(
    `${now().toFixed(0)} of ${String(seconds)} s, ${rate.toFixed(0)} responses/s, ${String(api.state().open + api.state().upgraded)} open at the API, heap ${(sample.heapUsed / 1048576).toFixed(1)} MiB, resident ${(sample.rss / 1048576).toFixed(0)} MiB, p99 ${sample.p99.toFixed(0)} ms, last fault: ${wrong?.name ?? "none yet"}`,
  );
}
isOver = true;
provider.clearFaults();
redis.resume();
await Promise.all(users);
await Promise.race([wrongs, pause(0)]);
progress("the load is over, waiting for rest");
// Longer than the application keeps an idle connection to the provider open.
await pause(Math.min(15, Math.max(8, seconds / 10)));
const rest = { ...(await call("rest")), idle: await idleDelay(), api: api.state(), live };
const asked = performance.now();
isEnding = true;
void call("end");
const endedWithin = await Promise.race([
  exited.then(() => (performance.now() - asked) / 1000),
  pause(10),
]);
if (endedWithin === undefined) child.kill("SIGKILL");
await redis.stop();
api.stop();
const grant_type = "refresh_token";
const refreshes = provider.requestsTo("token", { grant_type }).length;
const apiRefreshes = provider.requestsTo("token", { grant_type, resource: RESOURCE }).length;
const violations = provider.violations.splice(0);
await provider.stop();

const planned = plan.map(({ name }) => name);
const findings = judge({
  samples,
  planned,
  rest,
  before,
  faults,
  troubles,
  endedWithin,
  responses,
  refreshes,
  apiRefreshes,
  violations,
});
const title = `${flags.minutes} minutes of mixed load with ${faults.length === 1 ? "one fault" : `${String(faults.length)} faults`}`;
const subtitle = `${String(count)} users, ${String(responses.all)} responses, ID tokens of 15 s, sessions in Redis; Node ${process.versions.node}, ${String(cpus().length)} cores shared with load, provider and Redis`;
const report = [
  `${title}: ${subtitle}.`,
  "",
  ...findings.map(
    ({ name, isMet, detail }) => `- ${isMet ? "met" : "NOT MET"}: ${name} (${detail})`,
  ),
  "",
  `Responses: ${Object.entries(responses.byWhat)
    .sort(([, a], [, b]) => b - a)
    .map(([what, times]) => `${what} ${String(times)}`)
    .join(", ")}.`,
  `Requests to the provider that failed: ${String(failures.length)} (${[...new Set(failures)].join(", ")}). Log lines of the application: ${String(rest.lines.count)}, ${String(Math.round(rest.lines.bytes / 1024))} KiB.`,
].join("\n");
console.log(`\n${report}`);

const results = new URL("results/", import.meta.url);
mkdirSync(results, { recursive: true });
const picture = graph({ samples, faults, seconds, title, subtitle });
writeFileSync(new URL("soak.svg", results), picture);
writeFileSync(
  new URL("soak.json", results),
  JSON.stringify({ flags, samples, faults, findings, responses, rest }, undefined, 1),
);
if (flags.write) {
  writeFileSync(new URL("../docs/screenshots/soak.svg", import.meta.url), picture);
  const byRequest = Object.entries(responses.byWhat).sort(([, a], [, b]) => b - a);
  await keepEvidence("soak", {
    ...runNow(`npm run soak -- ${process.argv.slice(2).join(" ")}`),
    minutes: Number(flags.minutes),
    users: count,
    faults: faults.length,
    cores: cpus().length,
    store: "Redis",
    idTokenSeconds: 15,
    findings,
    responses: responses.all,
    byRequest: Object.fromEntries(byRequest),
    providerFailures: { count: failures.length, codes: [...new Set(failures)] },
    logLines: { count: rest.lines.count, kibibytes: Math.round(rest.lines.bytes / 1024) },
  });
}
process.exitCode = findings.every(({ isMet }) => isMet) ? 0 : 1;
// A user may still be waiting.
setTimeout(() => process.exit(), 100).unref();

function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else if (samples.length % 12 === 0) console.error(text);
}
