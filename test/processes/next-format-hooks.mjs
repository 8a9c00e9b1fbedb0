// Module hooks: the package by its name is the build's single modules, in which the format's
// version can be changed.
const BUILD = new URL("../../build/", import.meta.url);

/** @type {Readonly<Record<string, string>>} */
const ENTRIES = {
  idpauth: "index.js",
  "idpauth/express": "adapters/express/express.js",
  "idpauth/sqlite": "stores/sqlite/sqlite-store.js",
  "idpauth/redis": "stores/redis/redis-store.js",
  "idpauth/postgres": "stores/postgres/postgres-store.js",
};

/** @type {import("node:module").ResolveHook} */
export async function resolve(specifier, context, nextResolve) {
  const entry = ENTRIES[specifier];
  return entry === undefined
    ? nextResolve(specifier, context)
    : { url: new URL(entry, BUILD).href, shortCircuit: true };
}

/** @type {import("node:module").LoadHook} */
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (url !== new URL("record/record.js", BUILD).href) return loaded;
  const source = Buffer.from(/** @type {Uint8Array} */ (loaded.source)).toString("utf8");
  const next = source.replace("RECORD_VERSION = 1", "RECORD_VERSION = 2");
  if (next === source)
    throw new Error("build/record/record.js names its format's version in another way");
  return { ...loaded, source: next };
}
