/** @typedef {{ store: import("idpauth").SessionStore, close: () => Promise<unknown> }} OpenStore */

/**
 * Milliseconds between two attempts to reach a server that is away, and for which one attempt may
 * take.
 */
const RECONNECT = 100;
const CONNECT = 10_000;

/**
 * The store as an application would open it. Only its own driver is loaded.
 *
 * @param {import("./process-options.js").StoreOptions} options
 * @returns {Promise<OpenStore>}
 */
export async function openStore(options) {
  switch (options.kind) {
    case "sqlite":
      return sqlite(options.path);
    case "redis":
      return options.client === "redis" ? nodeRedis(options.port) : ioredis(options.port);
    case "redis-cluster":
      return nodeRedisCluster(options.ports);
    case "postgres":
      return postgres(options.url, options.listens);
  }
}

/**
 * @param {string} path
 * @returns {Promise<OpenStore>}
 */
async function sqlite(path) {
  const { sqliteStore } = await import("idpauth/sqlite");
  const store = sqliteStore(path);
  return { store, close: async () => store.close() };
}

/**
 * @param {number} port
 * @returns {Promise<OpenStore>}
 */
async function nodeRedis(port) {
  const { createClient } = await import("redis");
  const { redisStore } = await import("idpauth/redis");
  const client = createClient({
    socket: { host: "127.0.0.1", port, reconnectStrategy: () => RECONNECT },
    disableOfflineQueue: true,
  });
  client.on("error", () => undefined);
  await client.connect();
  return { store: redisStore(client), close: async () => client.destroy() };
}

/**
 * @param {number} port
 * @returns {Promise<OpenStore>}
 */
async function ioredis(port) {
  const { Redis } = await import("ioredis");
  const { redisStore } = await import("idpauth/redis");
  const client = new Redis({
    host: "127.0.0.1",
    port,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => RECONNECT,
    lazyConnect: true,
  });
  client.on("error", () => undefined);
  await client.connect();
  return { store: redisStore(client), close: async () => client.disconnect() };
}

/**
 * @param {readonly number[]} ports
 * @returns {Promise<OpenStore>}
 */
async function nodeRedisCluster(ports) {
  const { createCluster } = await import("redis");
  const { redisStore } = await import("idpauth/redis");
  const client = createCluster({
    rootNodes: ports.map((port) => ({ socket: { host: "127.0.0.1", port } })),
    defaults: { disableOfflineQueue: true, socket: { reconnectStrategy: () => RECONNECT } },
  });
  client.on("error", () => undefined);
  await client.connect();
  return { store: redisStore(client), close: async () => client.destroy() };
}

/**
 * @param {string} url
 * @param {boolean} listens whether the server tells of ended sessions, over a connection of its own
 * @returns {Promise<OpenStore>}
 */
async function postgres(url, listens) {
  const { default: pg } = await import("pg");
  const { postgresStore } = await import("idpauth/postgres");
  const pool = new pg.Pool({ connectionString: url, max: 8, connectionTimeoutMillis: CONNECT });
  const listen = listens ? new pg.Client({ connectionString: url }) : undefined;
  await listen?.connect();
  const store = postgresStore(pool, { ...(listen && { listen }) });
  await store.migrate();
  const close = async () => {
    await store.close();
    await pool.end();
    await listen?.end();
  };
  return { store, close };
}
