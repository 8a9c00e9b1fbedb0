// The samples that the tests of this folder run as processes and attack.

const LIVE = "docs/snippets/live-connections";
export const SOCKETS = ["express", "koa", "node", "fastify", "hono"].map(
  (name) => `${LIVE}/websocket-${name}.js`,
);
/** Their sockets are those of an API behind idpauth's proxy. */
export const PROXIES = ["express", "fastify", "koa", "hono", "node"].map(
  (name) => `docs/snippets/production/${name}.mjs`,
);
export const SOCKET_IO = `${LIVE}/socket-io.js`;
export const STREAMS = ["express", "fastify", "koa", "hono", "node", "fetch"].map(
  (name) => `${LIVE}/stream-${name}.js`,
);

/** Applications with sockets, streams or services of their own. */
export const EXAMPLES = [
  { file: "examples/spa-react/server.mjs", route: "/idpauth/events" },
  { file: "examples/several-services/gateway.mjs", route: "/idpauth/events" },
  { file: "examples/several-services/orders.mjs", route: "/" },
  { file: "examples/several-services/billing.mjs", route: "/" },
  { file: "examples/next-two-providers/api.mjs", route: "/" },
];
/** An application with an API of its own. */
export const FASTIFY_REACT = "examples/fastify-react/server.mjs";

export interface SampleOfStore {
  readonly file: string;
  readonly store: "redis" | "postgres" | "none";
}

/** Its users sign in at one of two providers. */
export const DESK = "examples/express-complete/server.mjs";
/** They close a server, or the client of a store. */
export const CLOSING: readonly SampleOfStore[] = [
  ...PROXIES.map((file): SampleOfStore => ({ file, store: "redis" })),
  { file: "docs/snippets/production/cluster.mjs", store: "none" },
  { file: "docs/snippets/containers/server.mjs", store: "redis" },
  { file: "docs/snippets/containers/server-fastify.mjs", store: "redis" },
  { file: "docs/snippets/stores/node-redis.mjs", store: "redis" },
  { file: "docs/snippets/stores/ioredis.mjs", store: "redis" },
  { file: "docs/snippets/stores/postgres.mjs", store: "postgres" },
  { file: "docs/snippets/stores/postgres-listen.mjs", store: "postgres" },
  { file: DESK, store: "redis" },
];

/** Other files with a socket, a stream or the client of a store, and what attacks them. */
export const ATTACKED_ELSEWHERE: Readonly<Record<string, string>> = {
  [`${LIVE}/upgrades.js`]: "part of the WebSocket samples for Express, Koa and node:http",
  "docs/snippets/proxy/upgrade.ts": "the production samples have the same lines",
  "docs/snippets/proxy/upgrade-fastify.ts":
    "its listeners are those of the production sample and the WebSocket sample for Fastify",
  "docs/snippets/proxy/upgrade-hono.ts": "the production sample for Hono has the same lines",
  "docs/snippets/testing/proxied-route.mjs": "a test, which no stranger reaches",
  "docs/snippets/user-table/pool.mjs": "opens no port, and logs the errors of its pool",
  "examples/express-complete/redis.mjs": "part of examples/express-complete/server.mjs",
  "examples/express-complete/test/application.mjs": "a test, which no stranger reaches",
  "examples/fastify-react/app.mjs": `part of ${FASTIFY_REACT}`,
  "examples/fastify-react/api.mjs": `part of ${FASTIFY_REACT}`,
  "examples/next/redis/lib/auth.ts": "Next.js serves its requests, and its client logs its errors",
  "examples/nestjs/notices/notices.gateway.ts": "test/adapters/nestjs-graphql.matrix.test.ts",
};
