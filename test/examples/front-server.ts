import { blocksOf, PROGRAMS, startProxy, type RunningProxy } from "../proxies/programs.js";

// nginx and Caddy with the configurations of docs/how-to/single-page-applications.md.

interface FrontServerOptions {
  /** On which the front server speaks https. */
  readonly port: number;
  /** The folder of the front end that Vite has built. */
  readonly files: string;
  /** The API's port. */
  readonly api: number;
}

const PAGE = "how-to/single-page-applications.md";
const policy = /^Content-Security-Policy: (.+)$/m.exec(blocksOf(PAGE, "http")[0] ?? "")?.[1] ?? "";
const NAMES = ["nginx", "caddy"] as const;

export const FRONT_SERVERS = NAMES.map((name) => ({
  name,
  /** The program's path; undefined: its tests are skipped. */
  program: PROGRAMS[name],
  start: ({ port, files, api }: FrontServerOptions): Promise<RunningProxy> =>
    startProxy(name, {
      configuration: blocksOf(PAGE, name)[0] ?? "",
      port,
      upstreams: { "localhost:3000": api },
      replaced: { "/srv/app/dist": files, POLICY: policy },
    }),
}));
