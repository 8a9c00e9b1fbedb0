import { execFile } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { load } from "./files.js";

// Carries out a Dockerfile without an engine: each stage is a folder that stands for the image's
// root. The base image's programs are those of this machine.

const run = promisify(execFile);

/** What Docker's Node.js images have, by their documentation. */
const UIDS: Readonly<Record<string, number>> = { node: 1000 };

export interface Image {
  /** The folder that stands for `/`. */
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Undefined: the image's user is root. */
  readonly uid: number | undefined;
  readonly command: readonly string[];
}

interface Instruction {
  getKeyword(): string;
  getArguments(): { getValue(): string }[];
  getArgumentsContent(): string | null;
  /** Of ENV alone. */
  getProperties(): { getName(): string; getValue(): string | null }[];
  /** Of FROM alone. */
  getBuildStage(): string | null;
  /** Of COPY alone. */
  getFromFlag(): { getValue(): string | null } | null;
  /** Of CMD alone. */
  getJSONStrings(): { getJSONValue(): string }[];
}

export interface BuildOptions {
  readonly dockerfile: string;
  /** The folder that `docker build` gets. */
  readonly context: string;
  /** Gets a folder for each stage. */
  readonly folder: string;
}

/** @throws Error an instruction fails, or isn't one of those that this reader knows */
export async function buildImage({ dockerfile, context, folder }: BuildOptions): Promise<Image> {
  const { DockerfileParser } = load("dockerfile-ast") as {
    DockerfileParser: { parse(text: string): { getInstructions(): Instruction[] } };
  };
  const stages = new Map<string, string>();
  let image: Image = { root: "", workdir: "/", env: {}, uid: undefined, command: [] };
  const inImage = (to: string) => path.join(image.root, path.posix.resolve(image.workdir, to));

  async function carryOut(instruction: Instruction): Promise<void> {
    const words = instruction.getArguments().map((one) => one.getValue());
    const [first = ""] = words;
    switch (instruction.getKeyword()) {
      case "FROM": {
        const root = path.join(folder, `stage-${String(stages.size)}`);
        stages.set(instruction.getBuildStage() ?? root, root);
        image = { root, workdir: "/", env: {}, uid: undefined, command: [] };
        mkdirSync(root);
        return;
      }
      case "WORKDIR":
        image = { ...image, workdir: path.posix.resolve(image.workdir, first) };
        mkdirSync(inImage("."), { recursive: true });
        return;
      case "ENV": {
        const added = instruction
          .getProperties()
          .map((one) => [one.getName(), one.getValue() ?? ""] as const);
        image = { ...image, env: { ...image.env, ...Object.fromEntries(added) } };
        return;
      }
      case "COPY": {
        const stage = instruction.getFromFlag()?.getValue() ?? undefined;
        const from = stage === undefined ? context : stages.get(stage);
        if (from === undefined) throw new Error(`There is no stage ${stage ?? ""}.`);
        const sources = words.slice(0, -1);
        if (stage === undefined) assertSent(context, sources);
        for (const source of sources) copy(path.join(from, source), words.at(-1) ?? "");
        return;
      }
      case "RUN":
        await run("sh", ["-c", instruction.getArgumentsContent() ?? ""], {
          cwd: inImage("."),
          env: { ...npmEnvironment(), ...image.env },
        });
        return;
      case "USER":
        image = { ...image, uid: UIDS[first] };
        if (image.uid === undefined) throw new Error(`The image has no user ${first}.`);
        return;
      case "EXPOSE":
        return;
      case "CMD":
        image = {
          ...image,
          command: instruction.getJSONStrings().map((one) => one.getJSONValue()),
        };
        return;
      default:
        throw new Error(`This reader doesn't know ${instruction.getKeyword()}.`);
    }
  }

  /** A folder's content is copied, and a file into a folder whose name ends with a slash. */
  function copy(source: string, to: string): void {
    const isInto = to.endsWith("/") && !statSync(source).isDirectory();
    const target = inImage(isInto ? path.posix.join(to, path.basename(source)) : to);
    cpSync(source, target, { recursive: true, verbatimSymlinks: true });
  }

  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions())
    await carryOut(instruction);
  addNode(image.root);
  return image;
}

/** The program that the base image has, readable by every user. */
function addNode(root: string): void {
  const folder = path.join(root, "usr/local/bin");
  mkdirSync(folder, { recursive: true });
  copyFileSync(process.execPath, path.join(folder, "node"));
}

/** The environment without what npm sets for `npm test`, so that npm works on the current folder. */
export function npmEnvironment(): NodeJS.ProcessEnv {
  const own =
    /^(?:npm_package_.*|npm_lifecycle_.*|npm_command|npm_config_(?:local_)?prefix|INIT_CWD|NODE_OPTIONS|NODE_ENV|VITEST.*|SECRET_SCAN_FOLDER)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}

/** @throws Error `.dockerignore` excludes a source, so that an engine wouldn't find it */
function assertSent(context: string, sources: readonly string[]): void {
  const sent = filesSent(readFileSync(path.join(context, ".dockerignore"), "utf8"), [
    ...readdirSync(context),
  ]);
  const missing = sources.filter((source) => !sent.includes(source));
  if (missing.length > 0) throw new Error(`.dockerignore excludes ${missing.join(", ")}.`);
}

/** The files that an engine gets. */
export function filesSent(dockerignore: string, files: readonly string[]): string[] {
  const { default: createFilter } = load("@balena/dockerignore") as {
    default: () => { add(patterns: string): { filter(paths: readonly string[]): string[] } };
  };
  return createFilter().add(dockerignore).filter(files);
}
