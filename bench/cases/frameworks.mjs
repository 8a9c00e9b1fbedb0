// For each framework: the probe against the framework's bare route with the same JSON, and a
// guarded route against the same route unguarded. Each framework has its own process.
import { startChild } from "../children.mjs";
import { ratioRow } from "../report.mjs";
import { inWords, ratio, throughput } from "../rounds.mjs";
import { clientOf, signIn } from "../sign-in.mjs";

/** The framework's name, and the goal for the probe's ratio to its bare route. */
const HOSTS = {
  express: ["Express", 1],
  koa: ["Koa", 1],
  fastify: ["Fastify", 0.8],
  hono: ["Hono on Node", 0.8],
  node: ["node:http", 0.75],
  fetch: ["fetch-style on Node", undefined],
};

export async function hosts({ load, provider, settings }) {
  const rows = [];
  const measurements = {};
  for (const [host, [name, atLeast]] of Object.entries(HOSTS)) {
    console.error(`  ${name}`);
    const server = await startChild("framework-server.mjs", { host, provider: clientOf(provider) });
    try {
      const { bare, mounted } = await server.call("ports");
      const cookies = [await signIn(`http://127.0.0.1:${mounted}`, provider)];
      const targets = [
        { name: "probe", server, port: mounted, path: "/idpauth/session", cookies },
        { name: "bare", server, port: bare, path: "/session", cookies },
        { name: "guarded", server, port: mounted, path: "/guarded", cookies },
        { name: "open", server, port: mounted, path: "/open", cookies },
      ];
      const measured = await throughput(load, targets, settings);
      measurements[host] = measured;
      const { values } = measured;
      rows.push(
        ratioRow(
          `${name}: the probe of a signed-in user / a bare route that sends the same JSON`,
          ratio(values.probe, values.bare),
          atLeast === undefined ? undefined : { atLeast },
          inWords(measured, "probe", "bare"),
        ),
        ratioRow(
          `${name}: a guarded route / the same route without the guard`,
          ratio(values.guarded, values.open),
          // The rest of a request of the others is so cheap that the share depends on the machine.
          // in-process.mjs has the goals of their guards.
          host === "express" ? { atLeast: 0.88 } : undefined,
          inWords(measured, "guarded", "open"),
        ),
      );
    } finally {
      server.stop();
    }
  }
  return { rows, measurements };
}
