// Checks that imports point down only, as docs/contributing/architecture.md says. A comment cannot
// switch it off. It reads imports, re-exports, import types, import() and require(): a type is a
// dependency, too.
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { CONFORMANCE, packageEntries } from "./entries.mjs";
import { headline, root } from "./run.mjs";

/**
 * What a folder of sources may import, besides its own files.
 *
 * @typedef {object} Rule
 * @property {readonly string[]} folders other folders, and files
 * @property {readonly string[]} packages
 * @property {boolean} builtins whether it may use Node.js's own modules
 * @property {boolean} [ownFramework] whether it may import packages whose names start with the
 *   folder's name
 * @property {boolean} [ownsProcess] whether it may load code late in its own way, also code whose
 *   address is only known when it runs: a failure ends its process
 */

/** What every folder that does I/O may import. */
const BASE = ["src/clock.ts", "src/errors.ts", "src/http", "src/ports", "src/record"];

/** What code outside this repository imports of `idpauth` and `idpauth/adapter`. */
const PUBLIC = ["src/index.ts", "src/adapter.ts"];

/**
 * One rule for each folder or file; the first name that fits counts. `/*` stands for each folder
 * inside, so that none imports another.
 *
 * @type {Readonly<Record<string, Rule>>}
 */
export const RULES = {
  // What every other folder may import, in this order: each imports only those before it.
  "src/clock.ts": { folders: [], packages: [], builtins: false },
  "src/error-table.ts": { folders: [], packages: [], builtins: false },
  "src/errors.ts": { folders: ["src/error-table.ts"], packages: [], builtins: false },
  "src/http": { folders: ["src/errors.ts"], packages: [], builtins: false },
  "src/record": { folders: ["src/clock.ts"], packages: [], builtins: false },
  "src/ports": { folders: ["src/clock.ts", "src/record"], packages: [], builtins: false },
  "src/work": { folders: ["src/clock.ts", "src/errors.ts"], packages: [], builtins: false },
  // Keys and certificates come from text, files and node:crypto.
  "src/keys": { folders: ["src/record"], packages: [], builtins: true },
  "src/config": {
    folders: ["src/errors.ts", "src/http", "src/keys", "src/ports", "src/record"],
    packages: [],
    builtins: false,
  },
  "src/events": {
    folders: ["src/clock.ts", "src/errors.ts", "src/ports", "src/record"],
    packages: [],
    builtins: true,
  },
  "src/pages": {
    folders: ["src/config", "src/errors.ts", "src/http", "src/record", "src/work"],
    packages: [],
    builtins: false,
  },
  // The application passes in the client of Redis and PostgreSQL.
  "src/stores/*": { folders: [...BASE, "src/stores"], packages: [], builtins: true },
  "src/stores": { folders: [...BASE, "src/work"], packages: [], builtins: true },
  // Loaded where a session has a key, or a client a certificate; only types of them may be imported
  // elsewhere.
  "src/provider/dpop": {
    folders: BASE,
    packages: ["oauth4webapi", "jose", "jose/jwt/sign"],
    builtins: true,
  },
  "src/provider/certificates": {
    folders: [...BASE, "src/keys", "src/work"],
    packages: ["undici"],
    builtins: true,
  },
  "src/provider": {
    folders: [
      ...[...BASE, "src/config", "src/events", "src/keys", "src/work"],
      ...["src/provider/certificates", "src/provider/dpop"],
    ],
    packages: ["oauth4webapi", "jose", "jose/errors", "jose/jwks/local", "jose/jws/compact/verify"],
    builtins: true,
  },
  "src/sessions": { folders: [...BASE, "src/work"], packages: [], builtins: true },
  // The checks that ask a provider: `idpauth check --live`, and `auth.checkProvider`.
  "src/live": {
    folders: [
      ...[...BASE, "src/config", "src/events", "src/provider", "src/provider/certificates"],
      ...["src/sessions", "src/work"],
    ],
    packages: [],
    builtins: true,
  },
  // The composition loads it when the application has a source of providers.
  "src/tenants": {
    folders: [
      ...[...BASE, "src/config", "src/events", "src/keys", "src/live", "src/provider", "src/work"],
    ],
    packages: ["undici"],
    builtins: true,
  },
  "src/application": {
    folders: [...BASE, "src/events", "src/work"],
    packages: [],
    builtins: false,
  },
  "src/access": {
    folders: [...BASE, "src/application", "src/events", "src/work"],
    packages: [],
    builtins: true,
  },
  "src/guard": {
    folders: [...BASE, "src/access", "src/config", "src/events", "src/pages"],
    packages: [],
    builtins: false,
  },
  // The composition loads it when the application uses an API, so only types of it may be imported
  // elsewhere.
  "src/apis": {
    folders: [
      ...[...BASE, "src/access", "src/config", "src/events", "src/guard", "src/pages"],
      ...["src/provider/certificates", "src/provider/dpop", "src/work"],
    ],
    packages: ["undici"],
    builtins: true,
  },
  "src/endpoints": {
    folders: [
      ...[
        ...BASE,
        "src/access",
        "src/application",
        "src/config",
        "src/events",
        "src/guard",
        "src/pages",
        "src/sessions",
      ],
      "src/work",
    ],
    packages: [],
    builtins: true,
  },
  // The composition: it alone sees every part.
  "src/auth": {
    folders: [
      ...[
        ...BASE,
        "src/access",
        "src/apis",
        "src/application",
        "src/config",
        "src/endpoints",
        "src/events",
        "src/guard",
      ],
      ...[
        "src/pages",
        "src/provider",
        "src/provider/certificates",
        "src/sessions",
        "src/stores",
        "src/stores/memory",
        "src/tenants",
        "src/work",
      ],
    ],
    packages: [],
    builtins: true,
  },
  // What adapters for frameworks over node:http have in common. It imports only types of node:http:
  // `idpauth/adapter` exports it, and adapters of the Fetch kind import `idpauth/adapter`.
  "src/node-http": {
    folders: ["src/auth", "src/config", "src/guard", "src/http", "src/sessions"],
    packages: [],
    builtins: true,
  },
  // What applications, and what authors of adapters and stores, import by the package's name.
  "src/index.ts": {
    folders: [
      ...[
        ...BASE,
        "src/access",
        "src/application",
        "src/auth",
        "src/config",
        "src/events",
        "src/guard",
      ],
      ...["src/keys", "src/pages", "src/sessions", "src/stores/memory"],
    ],
    packages: [],
    builtins: false,
  },
  "src/adapter.ts": {
    folders: [
      ...BASE,
      ...["src/auth", "src/config", "src/events", "src/guard", "src/node-http", "src/sessions"],
    ],
    packages: [],
    builtins: false,
  },
  // An adapter imports what an adapter outside this repository can import: the public entries and
  // its framework. The adapter for the Fetch API is such an entry for two others. Express and Fastify
  // share how a framework's session is saved, in src/adapters/node. An adapter of the Fetch kind runs
  // where Node.js's modules may be missing, so it has a rule of its own.
  "src/adapters/node": {
    folders: PUBLIC,
    packages: [],
    builtins: true,
  },
  "src/adapters/fetch": {
    folders: PUBLIC,
    packages: [],
    builtins: false,
  },
  "src/adapters/hono": {
    folders: [...PUBLIC, "src/adapters/fetch"],
    packages: [],
    builtins: false,
    ownFramework: true,
  },
  "src/adapters/next": {
    folders: [...PUBLIC, "src/adapters/fetch"],
    packages: ["react"],
    builtins: false,
    ownFramework: true,
  },
  "src/adapters/*": {
    folders: [...PUBLIC, "src/adapters/node"],
    packages: [],
    builtins: true,
    ownFramework: true,
  },
  "src/opentelemetry": {
    folders: PUBLIC,
    packages: ["@opentelemetry/api"],
    builtins: false,
  },
  // What runs in a browser imports no code of the server, only types.
  "src/client": { folders: ["src/record"], packages: [], builtins: false },
  "src/react": { folders: ["src/client", "src/record"], packages: ["react"], builtins: false },
  // The test kit sees what an application sees. Its provider verifies client assertions with jose,
  // so a mistake in ours is found.
  "src/testing": {
    folders: PUBLIC,
    packages: ["jose"],
    builtins: true,
  },
  // `idpauth check --live` uses the provider and the stores as an application does. It loads the
  // driver or the store module that its user names. `idpauth provider` is the test kit's provider
  // with pages.
  "src/cli": {
    folders: [
      ...[
        ...BASE,
        "src/index.ts",
        "src/config",
        "src/events",
        "src/live",
        "src/pages",
        "src/provider",
        "src/sessions",
      ],
      "src/testing",
      ...[
        "src/stores",
        "src/stores/memory",
        "src/stores/sqlite",
        "src/stores/redis",
        "src/stores/postgres",
      ],
    ],
    packages: ["redis", "ioredis", "pg"],
    builtins: true,
    ownsProcess: true,
  },
  // A package of its own, so it imports `idpauth` by its name, as the stores and adapters do that it
  // tests.
  [`${CONFORMANCE}/src`]: {
    folders: [],
    packages: ["idpauth", "idpauth/adapter", "idpauth/testing"],
    builtins: true,
  },
  // The demo imports the package by its name, as an application does.
  demo: {
    folders: [],
    packages: [...packageEntries().map(({ name }) => name), "express", "jose", "ws"],
    builtins: true,
    ownsProcess: true,
  },
};

const BUILTINS = new Set(builtinModules);

/**
 * @param {ReadonlyMap<string, string>} sources path from the project's root, with slashes -> text
 * @returns {string[]} one line for each violation: file:line, the import, why not
 */
export function checkImports(sources) {
  /** @type {string[]} */
  const violations = [];
  /** @type {Map<string, Map<string, number>>} */
  const graph = new Map();
  for (const [file, text] of sources) {
    /** @type {Map<string, number>} */
    const edges = new Map();
    graph.set(file, edges);
    const from = placeOf(file);
    if (from === undefined) {
      violations.push(
        `${file}:1: has no rule; add its folder to the table in scripts/check-imports.mjs`,
      );
      continue;
    }
    for (const { specifier, line, isBare } of importsOf(file, text)) {
      const target = specifier?.startsWith(".") ? resolve(file, specifier) : undefined;
      if (target !== undefined && sources.has(target)) edges.set(target, line);
      const reason =
        whyNot(from, specifier, target, sources) ??
        (isBare && from.rule.ownsProcess !== true
          ? "import() stands in lazily(() => import(…)), which forgets a failure"
          : undefined);
      if (reason !== undefined)
        violations.push(`${file}:${line}: ${specifier ?? "import(…)"}: ${reason}`);
    }
  }
  return [...violations, ...cycles(graph)];
}

/**
 * @param {Place} from
 * @param {string | undefined} specifier
 * @param {string | undefined} target the file of a relative specifier
 * @param {ReadonlyMap<string, string>} sources
 * @returns {string | undefined} undefined: allowed
 */
function whyNot({ folder, rule }, specifier, target, sources) {
  if (specifier === undefined)
    return rule.ownsProcess === true
      ? undefined
      : "an import whose address is computed cannot be checked";
  if (target !== undefined) {
    if (!/\.[cm]?js$/.test(specifier)) return "a relative import ends in .js";
    if (!sources.has(target)) return "there is no such file in src/, demo/ or packages/";
    const other = placeOf(target)?.folder;
    if (other === folder || (other !== undefined && rule.folders.includes(other))) return undefined;
    return `${folder} may not import ${other ?? target}; it may import ${list(rule.folders)}`;
  }
  if (specifier.startsWith("node:"))
    return rule.builtins ? undefined : `${folder} may not use Node's built-in modules`;
  if (BUILTINS.has(specifier)) return "write node: before a built-in module";
  if (rule.packages.includes(specifier)) return undefined;
  if (rule.ownFramework === true && specifier.split(/[-/]/)[0] === path.posix.basename(folder))
    return undefined;
  return `${folder} may not import this package; it may import ${list(rule.packages)}`;
}

/** @param {readonly string[]} names */
function list(names) {
  return names.length === 0 ? "none" : names.join(", ");
}

/** @typedef {{ folder: string, rule: Rule }} Place */

/**
 * @param {string} file
 * @returns {Place | undefined} the folder, or the file, that has a rule
 */
export function placeOf(file) {
  for (const [name, rule] of Object.entries(RULES)) {
    const parent = name.endsWith("/*") ? name.slice(0, -1) : undefined;
    const folder =
      parent !== undefined && file.startsWith(parent)
        ? /^[^/]+\//.exec(file.slice(parent.length))?.[0]
        : undefined;
    if (folder !== undefined) return { folder: `${parent}${folder.slice(0, -1)}`, rule };
    if (file === name || file.startsWith(`${name}/`)) return { folder: name, rule };
  }
  return undefined;
}

/**
 * @param {string} file
 * @param {string} specifier
 */
function resolve(file, specifier) {
  return path.posix.join(path.posix.dirname(file), specifier).replace(/\.([cm]?)js$/, ".$1ts");
}

/**
 * @typedef {object} Import
 * @property {string | undefined} specifier undefined: not a plain string
 * @property {number} line
 * @property {boolean} isBare whether it is an import() outside of lazily()
 */

/**
 * @param {string} file
 * @param {string} text
 * @returns {Import[]}
 */
function importsOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {Import[]} */
  const found = [];
  /** @param {ts.Node} node @param {ts.Node | undefined} specifier */
  const add = (node, specifier, isBare = false) => {
    found.push({
      isBare,
      specifier:
        specifier !== undefined && ts.isStringLiteralLike(specifier) ? specifier.text : undefined,
      line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1,
    });
  };
  /** @param {ts.Node} node @param {boolean} inLazily */
  const visit = (node, inLazily) => {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier);
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined)
      add(node, node.moduleSpecifier);
    else if (ts.isImportTypeNode(node))
      add(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined);
    else if (ts.isExternalModuleReference(node)) add(node, node.expression);
    else if (ts.isCallExpression(node) && isImportCall(node.expression))
      add(node, node.arguments[0], isImport(node.expression) && !inLazily);
    ts.forEachChild(node, (child) => visit(child, inLazily || isLazily(node)));
  };
  visit(source, false);
  return found;
}

/** @param {ts.Expression} callee */
function isImportCall(callee) {
  return isImport(callee) || (ts.isIdentifier(callee) && callee.text === "require");
}

/** @param {ts.Expression} callee */
function isImport(callee) {
  return callee.kind === ts.SyntaxKind.ImportKeyword;
}

/** @param {ts.Node} node */
function isLazily(node) {
  return (
    ts.isCallExpression(node) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === "lazily"
  );
}

/**
 * @param {ReadonlyMap<string, ReadonlyMap<string, number>>} graph file -> file that it imports ->
 *   line
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
      const line = graph
        .get(/** @type {string} */ (cycle[0]))
        ?.get(/** @type {string} */ (cycle[1]));
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
    for (const entry of readdirSync(path.join(root, folder), {
      recursive: true,
      withFileTypes: true,
    })) {
      const file = path
        .relative(root, path.join(entry.parentPath, entry.name))
        .split(path.sep)
        .join("/");
      if (entry.isFile() && file.endsWith(".ts"))
        sources.set(file, readFileSync(path.join(root, file), "utf8"));
    }
  }
  return sources;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const sources = readSources(["src", "demo", `${CONFORMANCE}/src`]);
  const violations = checkImports(sources);
  for (const violation of violations) console.error(violation);
  headline(
    violations.length === 0
      ? `Imports: ${sources.size} files, all point down`
      : `Imports: ${violations.length} point the wrong way`,
  );
  process.exitCode = violations.length === 0 ? 0 : 1;
}
