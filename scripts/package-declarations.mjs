// Compiles declarations of applications that export parts of their `auth`, in a layout of packages
// as pnpm's: an application reaches only the packages that it depends on, and a type of any other
// package can't be named (TS2883).
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./run.mjs";

/** What each application depends on besides idpauth and the types of Node.js. */
const FRAMEWORKS = {
  express: ["express", "@types/express"],
  fastify: ["fastify"],
  fetch: [],
  hono: ["hono"],
  koa: ["koa", "@types/koa"],
  node: [],
};

/** @param {string} framework */
const application = (framework) => `import { idpAuth } from "idpauth/${framework}";
export const auth = idpAuth();
export const { idpRequired, csrf, proxyApi } = auth;
export const recent = auth.idpRequiredWith({ maxAge: 60 });
${framework === "express" ? "export const { routes, errorHandler } = auth;" : ""}
${framework === "koa" ? "export const { routes } = auth;" : ""}
`;

const OPTIONS = {
  target: "ES2023",
  module: "NodeNext",
  strict: true,
  skipLibCheck: true,
  declaration: true,
  emitDeclarationOnly: true,
  types: ["node"],
  outDir: "declarations",
};

/**
 * @param {string} folder its node_modules has the packed package
 * @returns {string[]} one line for each framework whose declarations can't be emitted
 */
export function failingDeclarations(folder) {
  return Object.entries(FRAMEWORKS).flatMap(([framework, packages]) => {
    const project = path.join(folder, "declarations", framework);
    const layout = new Layout(project, path.join(folder, "node_modules/idpauth"));
    const dependencies = ["idpauth", "@types/node", ...packages];
    for (const name of dependencies) layout.add(name);
    const manifest = {
      private: true,
      type: "module",
      // TypeScript names only packages that are listed here.
      dependencies: Object.fromEntries(dependencies.map((name) => [name, "*"])),
    };
    writeFileSync(path.join(project, "package.json"), JSON.stringify(manifest));
    writeFileSync(path.join(project, "auth.ts"), application(framework));
    writeFileSync(
      path.join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: OPTIONS, files: ["auth.ts"] }),
    );
    const tsc = path.join(root, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", project], {
      encoding: "utf8",
    });
    if (status !== 0) return [`failed: declarations with idpauth/${framework}: ${stdout}`];
    console.log(`An application can export its guards of idpauth/${framework}.`);
    return [];
  });
}

/** The folder node_modules of a project, as pnpm lays it out. */
class Layout {
  /** @type {string} */
  #modules;
  /** @type {string} */
  #packed;

  /**
   * @param {string} project
   * @param {string} packed the folder of the packed package
   */
  constructor(project, packed) {
    this.#modules = path.join(project, "node_modules");
    this.#packed = packed;
  }

  /** A package that the application depends on. @param {string} name */
  add(name) {
    this.#link(this.#modules, name);
  }

  /**
   * @param {string} modules the folder node_modules that gets a link to the package
   * @param {string} name
   */
  #link(modules, name) {
    const link = path.join(modules, name);
    if (existsSync(link)) return;
    const stored = this.#store(name);
    mkdirSync(path.dirname(link), { recursive: true });
    if (stored !== link) symlinkSync(stored, link, "junction");
  }

  /**
   * Where a package and the links to its dependencies are. Peers that are not installed are left
   * out.
   *
   * @param {string} name
   * @returns {string}
   */
  #store(name) {
    const store = path.join(this.#modules, ".pnpm");
    const modules = path.join(store, name.replace("/", "+"), "node_modules");
    const stored = path.join(modules, name);
    if (existsSync(stored)) return stored;
    const source = name === "idpauth" ? this.#packed : path.join(root, "node_modules", name);
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(
      readFileSync(path.join(source, "package.json"), "utf8"),
    );
    const isOwn = (/** @type {string} */ file) =>
      !path.relative(source, file).split(path.sep).includes("node_modules");
    cpSync(source, stored, { recursive: true, dereference: true, filter: isOwn });
    const peers = Object.keys(peerDependencies).filter((peer) =>
      existsSync(path.join(this.#modules, peer)),
    );
    for (const one of [...Object.keys(dependencies), ...peers]) this.#link(modules, one);
    // pnpm also puts every package where all of the others find it, such as @types.
    this.#link(path.join(store, "node_modules"), name);
    return stored;
  }
}
