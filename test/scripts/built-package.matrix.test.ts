import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { isShipped, packageEntries } from "../../scripts/entries.mjs";
import { misplacedModules, modulesOf } from "../../scripts/loaded-modules.mjs";
import { stagePackage } from "../../scripts/stage-package.mjs";
import { buildPackage } from "../support/build.js";

const PROJECT = {
  repository: "https://git.example/idpauth/idpauth",
  documentation: "https://idpauth.example",
  contact: "x@idpauth.example",
};
const DIST = path.resolve(import.meta.dirname, "../../dist");
const read = (file: string) => readFileSync(path.join(DIST, file), "utf8");
const built = () => {
  const files = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".js"),
  );
  return new Map(files.map((file) => [file.replaceAll(path.sep, "/"), read(file)]));
};

beforeAll(buildPackage);

describe("the built package", () => {
  it("loads no server with an entry of the Fetch kind, and the command line and the test kit with no other entry", () => {
    const entries = packageEntries();
    expect(entries.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["idpauth/fetch", "idpauth/hono", "idpauth/next"]),
    );
    expect(misplacedModules(built(), entries)).toEqual([]);
  });

  it.each(["adapter", "adapters/fetch/fetch"])(
    "loads %s.js where node:http doesn't exist",
    (file) => {
      const hooks = `export const resolve = (name, context, next) => {
      if (/^(?:node:)?(?:https?|http2|net|tls|stream)$/.test(name)) throw new Error("no " + name);
      return next(name, context);
    };`;
      const code = `
      import { register } from "node:module";
      register("data:text/javascript,${encodeURIComponent(hooks)}");
      await import("node:http").then(() => process.exit(1), () => undefined);
      const entry = await import(${JSON.stringify(pathToFileURL(path.join(DIST, `${file}.js`)).href)});
      console.log(Object.keys(entry).join(" "));`;
      const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
        encoding: "utf8",
      });
      expect(stdout, stderr).toMatch(/\bkeepPrivate\b/);
    },
  );

  it.each([
    ["no API", "{}", []],
    ["an API", '{ orders: { url: "https://orders.example/v2/" } }', ["undici"]],
  ])("loads undici for an application with %s: %s", (_what, apis, expected) => {
    const hooks = `export const resolve = (name, context, next) => {
      if (name === "undici") console.log(name);
      return next(name, context);
    };`;
    const entry = pathToFileURL(path.join(DIST, "adapters/express/express.js")).href;
    const code = `
      import { register } from "node:module";
      register("data:text/javascript,${encodeURIComponent(hooks)}");
      const { idpAuth } = await import(${JSON.stringify(entry)});
      idpAuth({ env: {}, secretKey: "an example of a key of 32 bytes!", issuer: "https://login.example", clientId: "app", clientSecret: "secret", baseUrl: "https://app.example", log: false, apis: ${apis} }).start();
      await new Promise((resolve) => setTimeout(resolve, 300));`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      encoding: "utf8",
    });
    expect([stdout.split("\n").filter(Boolean), stderr]).toEqual([expected, ""]);
  });

  it("gives each entry for browsers the same client of the page", () => {
    const [, chunk] = /from '(.*page-client\.js)'/.exec(read("client/client.js"))!;
    for (const name of ["streams", "warning"])
      expect(read(`client/${name}/${name}.js`)).toMatch(
        new RegExp(`import \\{.*pageClient.*\\} from '../${chunk!}'`),
      );
    const holders = [...built()].filter(([, text]) =>
      modulesOf(text).includes("src/client/page-client.ts"),
    );
    expect(holders.map(([file]) => file)).toEqual(["chunks/page-client.js"]);
  });

  it("has a file for pages without a bundler that imports nothing", () => {
    expect(read("client/browser.js")).not.toMatch(/\b(?:import|require)\b/);
  });

  it("has a type file for each entry, and no type file that no entry needs", () => {
    const types = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".d.ts"),
    );
    const entries = packageEntries().filter(({ isProgram }) => !isProgram);
    expect(types).toEqual(
      expect.arrayContaining(entries.map(({ module }) => path.normalize(`${module}.d.ts`))),
    );
    expect(types.filter((file) => file.startsWith(`cli${path.sep}`))).toEqual([]);
  });

  it("has types that compile with the library check on", () => {
    const ours = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".d.ts"),
    );
    const files = ours.map((file) => path.join(DIST, file));
    const program = ts.createProgram([...files, path.resolve(DIST, "../types/next.d.ts")], {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      strict: true,
      noEmit: true,
      types: ["node"],
    });
    const mistakes = files.flatMap((file) =>
      program.getSemanticDiagnostics(program.getSourceFile(file)),
    );
    expect(mistakes.map(({ file, messageText }) => [file?.fileName, messageText])).toEqual([]);
  }, 60_000);

  it.each([
    [
      "by its page, without addresses",
      { repository: "", documentation: "", contact: "" },
      "See node_modules/idpauth/docs/reference/errors.md#e003",
      "See node_modules/idpauth/docs/reference/errors.md#w001",
    ],
    [
      "by its address, with addresses",
      PROJECT,
      "See https://idpauth.example/e/E003",
      "See https://idpauth.example/e/W001",
    ],
  ])("names the explanation of each finding %s", (_, project, error, warning) => {
    const folder = mkdtempSync(path.join(tmpdir(), "idpauth-staged-"));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    stagePackage(folder, project);
    const entry = pathToFileURL(path.join(folder, "dist/adapters/express/express.js")).href;
    const code = `
      const { idpAuth } = await import("${entry}");
      const options = { env: {}, secretKey: "an example of a key of 32 bytes!" };
      try {
        idpAuth(options).start();
      } catch ({ message }) {
        console.log(message);
      }
      idpAuth({ ...options, clientId: "app", clientSecret: "secret", log: ({ message }) => console.log(message) }).start();`;
    const run = (...args: string[]) =>
      spawnSync(process.execPath, args, { encoding: "utf8", env: {} }).stdout;
    const lines = run("--input-type=module", "--eval", code).split("\n");
    expect(lines).toContain(`       ${error}`);
    expect(lines.filter((line) => line.endsWith(`. ${warning}`))).toHaveLength(1);
    const report = run(path.join(folder, "dist/cli/idpauth.js"), "check").split("\n");
    expect(report).toEqual(expect.arrayContaining([`       ${error}`, `       ${warning}`]));
  });

  it("starts without the files of the languages; if one is missing, its pages are in English and the log says so once", () => {
    const copy = mkdtempSync(path.join(tmpdir(), "idpauth-languages-"));
    onTestFinished(() => {
      rmSync(copy, { recursive: true });
    });
    cpSync(DIST, path.join(copy, "dist"), { recursive: true });
    writeFileSync(path.join(copy, "package.json"), '{ "type": "module" }');
    const languages = [...built()].flatMap(([file, text]) =>
      /^\/\/ src\/pages\/locales\/(?!en\.)/m.test(text) ? [file] : [],
    );
    expect(languages.map((file) => modulesOf(read(file)).length)).toEqual([1, 1, 1, 1, 1]);
    for (const file of languages) rmSync(path.join(copy, "dist", file));
    const entry = (name: string) =>
      pathToFileURL(path.join(copy, `dist/adapters/${name}/${name}.js`)).href;
    const code = `
      const options = {
        clientId: "app", clientSecret: "secret", secretKey: "${"k".repeat(32)}", baseUrl: "https://app.example",
        pages: { locale: "de" },
        log: ({ code, details }) => code === "language_not_loaded" && console.log(JSON.stringify(details)),
      };
      (await import("${entry("express")}")).idpAuth({ ...options, log: false }).start();
      const auth = (await import("${entry("fetch")}")).idpAuth(options);
      for (const path of ["", "no-page"]) {
        const response = await auth.fetch(new Request("https://app.example/idpauth/" + path, { headers: { accept: "text/html" } }));
        console.log(response.status, /<html[^>]*>/.exec(await response.text())[0]);
      }`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
      encoding: "utf8",
    });
    expect(output.trim().split("\n")).toEqual([
      '{"language":"de","reason":"ERR_MODULE_NOT_FOUND"}',
      '200 <html lang="en" dir="ltr">',
      '404 <html lang="en" dir="ltr">',
    ]);
  });

  it("has a source map exactly where all sources are in the package, without a copy of them", () => {
    const files = readdirSync(DIST, { recursive: true, encoding: "utf8" }).map((file) =>
      file.replaceAll(path.sep, "/"),
    );
    const maps = files.filter((file) => file.endsWith(".map"));
    expect(maps).toEqual(
      expect.arrayContaining(["chunks/core.js.map", "index.d.ts.map", "client/client.js.map"]),
    );
    for (const file of maps) {
      const { sources, sourcesContent } = JSON.parse(read(file)) as Record<string, string[]>;
      const places = sources!.map((one) => path.posix.join("dist", path.posix.dirname(file), one));
      expect(sourcesContent).toBeUndefined();
      expect(
        places.filter((place) => !isShipped(place) || !existsSync(path.resolve(DIST, "..", place))),
      ).toEqual([]);
      expect(
        modulesOf(read(file.slice(0, -".map".length))).filter((one) => !isShipped(one)),
      ).toEqual([]);
    }
    const named = files.filter(
      (file) =>
        /\.(?:js|ts)$/.test(file) &&
        read(file).includes(`//# sourceMappingURL=${path.posix.basename(file)}.map`),
    );
    expect(named.map((file) => `${file}.map`).sort()).toEqual(maps.sort());
    const without = files.filter((file) => file.endsWith(".js") && !maps.includes(`${file}.map`));
    expect(without.filter((file) => modulesOf(read(file)).some(isShipped))).toEqual([]);
  });

  it("has the names, the line comments and the lines of the source, but in the file for pages without a bundler", () => {
    const readable = built();
    readable.delete("client/browser.js");
    const code = [...readable.values()].join("\n");
    const folder = path.resolve(DIST, "../src");
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(path.join(folder, file), "utf8"));
    const comments = sources.flatMap((text) => text.match(/(?<=^ *)\/\/ .*$/gm) ?? []);
    const missing = comments.filter((comment) => !code.includes(comment));
    // The others explain types.
    expect(missing.length / comments.length).toBeLessThan(0.05);
    const names = sources.flatMap((text) => text.match(/(?<=^(?:export )?)function \w+/gm) ?? []);
    expect(names.length).toBeGreaterThan(500);
    expect(names.filter((name) => !code.includes(name))).toEqual([]);
    const lines = code.split("\n").filter((line) => !/^(?:im|ex)port /.test(line));
    expect(lines.filter((line) => line.length > 1_000)).toEqual([]);
  });
});
