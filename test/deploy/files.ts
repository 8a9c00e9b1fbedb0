import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { installFramework } from "../../scripts/framework-install.mjs";

// The files that docs/deploy/containers.md shows, and the packages that read them.

export const ROOT = path.resolve(import.meta.dirname, "../..");
export const FILES = path.join(ROOT, "docs/snippets/containers");
/** The folder that the packages are installed for. */
export const PACKAGES = path.join(ROOT, "test/recipes/deploy");
/** False: npm can't reach its registry, and the tests are to be skipped. */
export const installed = await installFramework(PACKAGES);

export const read = (file: string): string => readFileSync(path.join(FILES, file), "utf8");

/** Loads one of the packages. Its types aren't there before it's installed. */
export const load: (name: string) => unknown = createRequire(path.join(PACKAGES, "package.json"));

/** The part of an object of Kubernetes that tests read. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: unknown;
}

/** Reads every document of a YAML text. */
export function documents(text: string): Manifest[] {
  const { parseAllDocuments } = load("yaml") as {
    parseAllDocuments(text: string, options: object): { toJS(): Manifest; errors: Error[] }[];
  };
  return parseAllDocuments(text, { version: "1.2", strict: true }).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return document.toJS();
  });
}

/** The names of the manifests, such as `kubernetes/service.yaml`. */
export const MANIFESTS = readdirSync(path.join(FILES, "kubernetes")).map(
  (name) => `kubernetes/${name}`,
);

/** The names and values of an environment file. */
export function variables(file: string): Record<string, string> {
  const lines = read(file).split("\n");
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}

export interface Deployment {
  readonly replicas: number;
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: {
      readonly terminationGracePeriodSeconds: number;
      readonly securityContext: { readonly runAsUser: number };
      readonly containers: readonly [Container];
    };
  };
}

export interface Container {
  readonly image: string;
  readonly ports: readonly [{ readonly name: string; readonly containerPort: number }];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: readonly [{ readonly secretRef: { readonly name: string } }];
  readonly securityContext: object;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe & { readonly failureThreshold: number };
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: string[] } } };
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

/** The `spec` of the object of this kind. */
export function specOf(kind: string): unknown {
  const found = MANIFESTS.flatMap((file) => documents(read(file))).filter(
    (one) => one.kind === kind,
  );
  if (found.length !== 1) throw new Error(`${String(found.length)} objects of kind ${kind}`);
  return found[0]?.spec;
}

export const deployment = (): Deployment => specOf("Deployment") as Deployment;

export interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: string;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export const compose = () =>
  documents(read("compose.yaml"))[0] as unknown as {
    readonly services: Readonly<Record<"app" | "redis" | "keycloak", Service>>;
  };
