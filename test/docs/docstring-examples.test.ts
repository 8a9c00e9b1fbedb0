import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";

// Each function that applications import has an example in its docstring, which editors show. This
// test type-checks the examples against src/.

const ROOT = path.resolve(import.meta.dirname, "../..");

/** The entries for applications. `idpauth/adapter` is for authors of adapters. */
const ENTRIES: Readonly<Record<string, string>> = {
  idpauth: "src/index.ts",
  "idpauth/client": "src/client/client.ts",
  "idpauth/client/streams": "src/client/streams/streams.ts",
  "idpauth/express": "src/adapters/express/express.ts",
  "idpauth/fastify": "src/adapters/fastify/fastify.ts",
  "idpauth/fetch": "src/adapters/fetch/fetch.ts",
  "idpauth/hono": "src/adapters/hono/hono.ts",
  "idpauth/koa": "src/adapters/koa/koa.ts",
  "idpauth/next": "src/adapters/next/next.ts",
  "idpauth/node": "src/adapters/node/node.ts",
  "idpauth/opentelemetry": "src/opentelemetry/instrument.ts",
  "idpauth/postgres": "src/stores/postgres/postgres-store.ts",
  "idpauth/react": "src/react/react.ts",
  "idpauth/redis": "src/stores/redis/redis-store.ts",
  "idpauth/sqlite": "src/stores/sqlite/sqlite-store.ts",
  "idpauth/testing": "src/testing/index.ts",
};

const EXPRESS = `
declare const app: import("express").Express;
declare const handler: import("express").RequestHandler;
declare const auth: import("idpauth/express").ExpressIdpAuth;
`;

const CLIENT = `declare const auth: import("idpauth/client").Client;`;

/** What the application of an example has besides it. */
const GIVEN: Readonly<Record<string, string>> = {
  idpauth: `${EXPRESS}import { idpAuth } from "idpauth/express";
declare const request: import("express").Request;`,
  "idpauth/client/streams": CLIENT,
  "idpauth/express": EXPRESS,
  "idpauth/fastify": `
declare const app: import("fastify").FastifyInstance;
declare const handler: import("fastify").RouteHandlerMethod;
`,
  "idpauth/fetch": `declare const request: Request;`,
  "idpauth/hono": `
declare const app: import("hono").Hono;
declare const handler: import("hono").Handler;
`,
  "idpauth/koa": `
declare const app: import("koa");
declare const router: import("@koa/router").default;
declare const handler: import("koa").Middleware;
`,
  "idpauth/opentelemetry": EXPRESS,
  "idpauth/postgres": `import { idpAuth } from "idpauth/express";`,
  "idpauth/react": `
${CLIENT}
import type { ReactNode } from "react";
declare function Page(): ReactNode;
declare const useRouter: () => { readonly refresh: () => void };
declare const account: string | null;
declare const children: ReactNode;
`,
  "idpauth/redis": `import { idpAuth } from "idpauth/express";`,
  "idpauth/testing": `${EXPRESS}
import { idpAuth } from "idpauth/express";
import { providerSource } from "idpauth";
declare const url: string;
declare const provider: import("idpauth/testing").TestProvider;
`,
};

interface Example {
  readonly entry: string;
  readonly name: string;
  /** Undefined: the function has none. */
  readonly text: string | undefined;
}

let examples: readonly Example[];
let mistakes: ReadonlyMap<string, string>;

const OPTIONS: ts.CompilerOptions = {
  ...ts.convertCompilerOptionsFromJson(
    (
      ts.readConfigFile(path.join(ROOT, "tsconfig.json"), (file) => readFileSync(file, "utf8"))
        .config as { compilerOptions: object }
    ).compilerOptions,
    ROOT,
  ).options,
  lib: ["lib.es2023.d.ts", "lib.es2024.string.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  jsx: ts.JsxEmit.ReactJSX,
  allowJs: false,
  checkJs: false,
};

beforeAll(() => {
  const files = Object.values(ENTRIES).map((file) => path.join(ROOT, file));
  const program = ts.createProgram(files, OPTIONS);
  examples = Object.entries(ENTRIES).flatMap(([entry, file]) => examplesOf(program, entry, file));
  mistakes = mistakesIn(examples, program);
}, 240_000);

function examplesOf(program: ts.Program, entry: string, file: string): Example[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path.join(ROOT, file));
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} isn't a module`);
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol =
      (exported.flags & ts.SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported);
    const [declaration] = symbol.declarations ?? [];
    if (declaration === undefined || !ts.isFunctionDeclaration(declaration)) return [];
    const { fileName } = declaration.getSourceFile();
    const isAdapter = fileName.includes("/src/adapters/");
    // The others are for authors of adapters.
    if (isAdapter && exported.name !== "idpAuth") return [];
    const tag = symbol.getJsDocTags(checker).find(({ name }) => name === "example");
    const text = ts.displayPartsToString(tag?.text);
    return [{ entry, name: exported.name, text: text === "" ? undefined : text }];
  });
}

/** Returns the compiler's messages, by the name of the entry and the function. */
function mistakesIn(found: readonly Example[], old: ts.Program): ReadonlyMap<string, string> {
  const texts = new Map(
    found.map((example, index) => [
      path.join(ROOT, "test/docs", `example-${String(index)}.tsx`),
      { example, text: moduleOf(example, found) },
    ]),
  );
  const host = ts.createCompilerHost(OPTIONS);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.getSourceFile = (file, ...others) => {
    const own = texts.get(file);
    return own === undefined
      ? getSourceFile(file, ...others)
      : ts.createSourceFile(file, own.text, OPTIONS.target ?? ts.ScriptTarget.ES2023);
  };
  const program = ts.createProgram([...texts.keys()], OPTIONS, host, old);
  return new Map(
    [...texts].flatMap(([file, { example, text }]) => {
      const source = program.getSourceFile(file);
      const wrong = [
        ...program.getSyntacticDiagnostics(source),
        ...program.getSemanticDiagnostics(source),
      ].map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
      return wrong.length === 0
        ? []
        : [[`${example.entry} ${example.name}`, `${wrong.join("\n")}\n\n${text}`] as const];
    }),
  );
}

/** An example uses the functions of its entry without an import. */
function moduleOf({ entry, text = "" }: Example, all: readonly Example[]): string {
  const lines = text.split("\n");
  const isImport = (line: string) => line.startsWith("import ");
  const names = all.filter((one) => one.entry === entry).map(({ name }) => name);
  return [
    `import { ${names.join(", ")} } from ${JSON.stringify(entry)};`,
    GIVEN[entry] ?? "",
    ...lines.filter(isImport),
    "export async function example() {",
    ...lines.filter((line) => !isImport(line)).map((line) => line.replace(/^export /, "")),
    "}",
  ].join("\n");
}

describe("the examples in docstrings", () => {
  it("exist for each function of an entry for applications", () => {
    const missing = examples.filter(({ text }) => text === undefined);
    expect(missing.map(({ entry, name }) => `${entry} ${name}`)).toEqual([
      "idpauth/sqlite sqliteStore",
    ]);
  });

  it("pass the type check", () => {
    expect(Object.fromEntries(mistakes)).toEqual({});
  });

  it("would not pass with a mistake", () => {
    const [first] = examples;
    if (first === undefined) throw new Error("no example");
    const broken = { ...first, text: "const text: string = 1;" };
    const program = ts.createProgram([], OPTIONS);
    expect([...mistakesIn([broken], program).keys()]).toEqual([`${first.entry} ${first.name}`]);
  });
});
