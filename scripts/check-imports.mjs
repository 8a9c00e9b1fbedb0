// Proves that imports point only the way the architecture says: down. There is no exception by comment.
// It reads imports, re-exports, import types, import() and require() alike; a type is a dependency too.
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { headline, root } from "./run.mjs";

/**
 * @typedef {object} Room
 * @property {readonly string[]} rooms other rooms that it may import; its own files it always may
 * @property {readonly string[]} packages
 * @property {boolean} builtins whether it may use what Node brings
 * @property {boolean} [computed] whether it may import what somebody names when it runs; default no
 */

/** What every room that does I/O may import. */
const BASE = ["src/clock.ts", "src/errors.ts", "src/http", "src/ports", "src/record"];

/**
 * THE table. A room is a folder, a file, or with a star the files of one name: each host is a room, so that none imports another.
 *
 * @type {Readonly<Record<string, Room>>}
 */
export const ROOMS = {
  // What every other room may import, in this order: each imports only those before it.
  "src/clock.ts": { rooms: [], packages: [], builtins: false },
  "src/errors.ts": { rooms: [], packages: [], builtins: false },
  "src/http": { rooms: ["src/errors.ts"], packages: [], builtins: false },
  "src/record": { rooms: ["src/clock.ts", "src/ports"], packages: [], builtins: false },
  "src/ports": { rooms: ["src/clock.ts", "src/record"], packages: [], builtins: false },
  "src/config": { rooms: ["src/errors.ts", "src/http", "src/ports", "src/record"], packages: [], builtins: false },
  // Node's own channels, for tools that watch a process.
  "src/events": { rooms: ["src/clock.ts", "src/errors.ts", "src/ports", "src/record"], packages: [], builtins: true },
  "src/pages": { rooms: ["src/errors.ts", "src/http", "src/record"], packages: [], builtins: false },
  // A driver is handed in by the application; only SQLite's is loaded, when the runtime brings none.
  "src/stores/sqlite": { rooms: [...BASE, "src/stores"], packages: ["better-sqlite3"], builtins: true },
  "src/stores/redis": { rooms: [...BASE, "src/stores"], packages: [], builtins: true },
  "src/stores/postgres": { rooms: [...BASE, "src/stores"], packages: [], builtins: true },
  "src/stores": { rooms: BASE, packages: [], builtins: true },
  "src/provider": {
    rooms: [...BASE, "src/config", "src/events"],
    packages: ["oauth4webapi", "jose", "jose/errors", "jose/jwks/local", "jose/jws/compact/verify"],
    builtins: true,
  },
  "src/access": { rooms: [...BASE, "src/events"], packages: [], builtins: true },
  "src/sessions": { rooms: BASE, packages: [], builtins: true },
  "src/endpoints": { rooms: [...BASE, "src/access", "src/config", "src/events", "src/pages"], packages: [], builtins: true },
  "src/compose.ts": {
    rooms: [...BASE, "src/access", "src/config", "src/endpoints", "src/events", "src/pages", "src/provider", "src/sessions", "src/stores"],
    packages: [],
    builtins: true,
  },
  "src/index.ts": {
    rooms: [...BASE, "src/access", "src/compose.ts", "src/config", "src/endpoints", "src/events", "src/sessions", "src/stores"],
    packages: [],
    builtins: false,
  },
  // An adapter follows the rules that an adapter outside this repository follows: the public entries, its framework, nothing else.
  // Two adapters are such entries for others: what all frameworks over node:http share, and what all of the Fetch kind share.
  "src/adapters/node": { rooms: ["src/index.ts"], packages: [], builtins: true },
  "src/adapters/fetch": { rooms: ["src/index.ts"], packages: [], builtins: false },
  "src/adapters/express": { rooms: ["src/index.ts", "src/adapters/node"], packages: ["express", "express-session"], builtins: true },
  "src/adapters/fastify": { rooms: ["src/index.ts", "src/adapters/node"], packages: ["fastify"], builtins: true },
  "src/adapters/koa": { rooms: ["src/index.ts", "src/adapters/node"], packages: ["koa"], builtins: true },
  "src/adapters/hono": { rooms: ["src/index.ts", "src/adapters/fetch"], packages: ["hono"], builtins: false },
  "src/adapters/next": {
    rooms: ["src/index.ts", "src/adapters/fetch"],
    packages: ["next/headers.js", "next/navigation.js", "next/server.js", "react"],
    builtins: false,
  },
  // The test kit and the conformance suites see what an application sees. The suites use the kit's provider, browser and clock;
  // the kit's entry alone exports the suites.
  "src/testing/index.ts": { rooms: ["src/index.ts", "src/testing", "src/conformance"], packages: [], builtins: true },
  "src/testing": { rooms: ["src/index.ts"], packages: [], builtins: true },
  "src/conformance": { rooms: ["src/index.ts", "src/testing"], packages: [], builtins: true },
  // The live check does what the application will do, so it uses the provider and the stores as the application does; and it loads
  // what its user names: a driver that the project has, or a module that gives its store. The provider for development is the test
  // kit's, with pages that look like the component's. No other room may import the command line.
  "src/cli": {
    rooms: [
      ...BASE,
      "src/index.ts",
      "src/config",
      "src/events",
      "src/pages",
      "src/provider",
      "src/sessions",
      "src/stores",
      "src/stores/sqlite",
      "src/stores/redis",
      "src/stores/postgres",
      "src/testing",
    ],
    packages: ["redis", "ioredis", "pg"],
    builtins: true,
    computed: true,
  },
  // The demo is such a stranger, too.
  demo: {
    rooms: [],
    packages: [
      "idpauth",
      "idpauth/express",
      "idpauth/fastify",
      "idpauth/fetch",
      "idpauth/hono",
      "idpauth/koa",
      "idpauth/node",
      "idpauth/postgres",
      "idpauth/redis",
      "idpauth/sqlite",
      "better-sqlite3",
      "express",
      "express-session",
      "@fastify/cookie",
      "@fastify/session",
      "@hono/node-server",
      "@koa/router",
      "fastify",
      "hono",
      "koa",
      "oidc-provider",
      "pg",
      "redis",
    ],
    builtins: true,
  },
};

const BUILTINS = new Set(builtinModules);

/**
 * @param {ReadonlyMap<string, string>} sources path from the project's root, with slashes -> text
 * @param {Readonly<Record<string, Room>>} rooms
 * @returns {string[]} one line for each violation: file:line, the import, why not
 */
export function checkImports(sources, rooms = ROOMS) {
  /** @type {string[]} */
  const violations = [];
  /** @type {Map<string, Map<string, number>>} */
  const graph = new Map();
  for (const [file, text] of sources) {
    /** @type {Map<string, number>} */
    const edges = new Map();
    graph.set(file, edges);
    const room = roomOf(file, rooms);
    if (room === undefined) {
      violations.push(`${file}:1: lies in no room; add it to the table in scripts/check-imports.mjs`);
      continue;
    }
    for (const { specifier, line } of importsOf(file, text)) {
      const target = specifier?.startsWith(".") ? resolve(file, specifier) : undefined;
      if (target !== undefined && sources.has(target)) edges.set(target, line);
      const reason = whyNot(room, specifier, target, sources, rooms);
      if (reason !== undefined) violations.push(`${file}:${line}: ${specifier ?? "import(…)"}: ${reason}`);
    }
  }
  return [...violations, ...cycles(graph)];
}

/**
 * @param {string} room
 * @param {string | undefined} specifier
 * @param {string | undefined} target the file that a relative specifier leads to
 * @param {ReadonlyMap<string, string>} sources
 * @param {Readonly<Record<string, Room>>} rooms
 * @returns {string | undefined} undefined: allowed
 */
function whyNot(room, specifier, target, sources, rooms) {
  const allowed = /** @type {Room} */ (rooms[room]);
  if (specifier === undefined) return allowed.computed === true ? undefined : "an import whose address is computed cannot be checked";
  if (target !== undefined) {
    if (!/\.[cm]?js$/.test(specifier)) return "a relative import ends in .js";
    if (!sources.has(target)) return "there is no such file in src/ or demo/";
    const other = roomOf(target, rooms);
    if (other === room || (other !== undefined && allowed.rooms.includes(other))) return undefined;
    return `${room} may not import ${other ?? target}; it may import ${list(allowed.rooms)}`;
  }
  if (specifier.startsWith("node:")) return allowed.builtins ? undefined : `${room} may not use Node's built-in modules`;
  if (BUILTINS.has(specifier)) return "write node: before a built-in module";
  if (allowed.packages.includes(specifier)) return undefined;
  return `${room} may not import this package; it may import ${list(allowed.packages)}`;
}

/** @param {readonly string[]} names */
function list(names) {
  return names.length === 0 ? "none" : names.join(", ");
}

/**
 * @param {string} file
 * @param {Readonly<Record<string, Room>>} rooms
 * @returns {string | undefined}
 */
function roomOf(file, rooms) {
  return Object.keys(rooms).find((room) =>
    room.endsWith("*") ? file.startsWith(room.slice(0, -1)) : file === room || file.startsWith(`${room}/`),
  );
}

/**
 * @param {string} file
 * @param {string} specifier
 */
function resolve(file, specifier) {
  return path.posix.join(path.posix.dirname(file), specifier).replace(/\.([cm]?)js$/, ".$1ts");
}

/**
 * @param {string} file
 * @param {string} text
 * @returns {{ specifier: string | undefined, line: number }[]} specifier undefined: not a plain string
 */
function importsOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {{ specifier: string | undefined, line: number }[]} */
  const found = [];
  /** @param {ts.Node} node @param {ts.Node | undefined} specifier */
  const add = (node, specifier) => {
    found.push({
      specifier: specifier !== undefined && ts.isStringLiteralLike(specifier) ? specifier.text : undefined,
      line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1,
    });
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier);
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) add(node, node.moduleSpecifier);
    else if (ts.isImportTypeNode(node)) add(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined);
    else if (ts.isExternalModuleReference(node)) add(node, node.expression);
    else if (ts.isCallExpression(node) && isImportCall(node.expression)) add(node, node.arguments[0]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** @param {ts.Expression} callee */
function isImportCall(callee) {
  return callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === "require");
}

/**
 * @param {ReadonlyMap<string, ReadonlyMap<string, number>>} graph file -> file that it imports -> line
 * @returns {string[]} each cycle once
 */
function cycles(graph) {
  /** @type {string[]} */
  const found = [];
  const done = new Set();
  /** @param {string} file @param {readonly string[]} trail */
  const walk = (file, trail) => {
    const start = trail.indexOf(file);
    if (start >= 0) {
      const cycle = [...trail.slice(start), file];
      const line = graph.get(/** @type {string} */ (cycle[0]))?.get(/** @type {string} */ (cycle[1]));
      found.push(`${cycle[0]}:${line}: a cycle: ${cycle.join(" -> ")}`);
      return;
    }
    if (done.has(file)) return;
    for (const next of graph.get(file)?.keys() ?? []) walk(next, [...trail, file]);
    done.add(file);
  };
  for (const file of graph.keys()) walk(file, []);
  return found;
}

/** @param {readonly string[]} folders */
function readSources(folders) {
  /** @type {Map<string, string>} */
  const sources = new Map();
  for (const folder of folders) {
    for (const entry of readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })) {
      const file = path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join("/");
      if (entry.isFile() && file.endsWith(".ts")) sources.set(file, readFileSync(path.join(root, file), "utf8"));
    }
  }
  return sources;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const sources = readSources(["src", "demo"]);
  const violations = checkImports(sources);
  for (const violation of violations) console.error(violation);
  headline(
    violations.length === 0 ? `Imports: ${sources.size} files, all point down` : `Imports: ${violations.length} point the wrong way`,
  );
  process.exitCode = violations.length === 0 ? 0 : 1;
}
