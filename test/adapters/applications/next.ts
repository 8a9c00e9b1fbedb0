import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import type {
  ApplicationAuth,
  AdapterSetup,
  RunningApplication,
} from "../../../packages/idpauth-conformance/src/index.js";
import type { Harness } from "../next-application/lib/setup.js";
import { listen } from "./listen.js";
import { builtNextApplication, QUIET } from "./next-build.js";
import { requireOfNext } from "./next-installed.js";

// As `next` does before it loads anything; a test file that imports idpauth/next loads parts of
// Next.js by itself.
Object.assign(globalThis, { AsyncLocalStorage });

/**
 * What is used of it. Its own types would make NODE_ENV a duty of every environment in this
 * project.
 */
interface NextApplication {
  prepare(): Promise<void>;
  getRequestHandler(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  close(): Promise<void>;
}
const next = requireOfNext("next") as (
  options: Readonly<Record<string, unknown>>,
) => NextApplication;

export interface NextServer {
  readonly start: (setup: AdapterSetup) => Promise<RunningApplication>;
  close(): Promise<void>;
}

/**
 * The production build, served by Next.js in this process. All setups share it, each on a socket of
 * its own; what a request is asked of which setup goes with it through AsyncLocalStorage.
 *
 * @param port where Next.js takes itself to be: the port in `request.url`, and the one to which it
 *   forwards server actions. Default: one where nothing listens
 */
export async function serveNext(port = 1): Promise<NextServer> {
  const setups = new AsyncLocalStorage<AdapterSetup>();
  const harness: Harness = { setups };
  Object.assign(globalThis, { [Symbol.for("idpauth.test.next")]: harness });
  Object.assign(process.env, QUIET);
  const app = next({
    dev: false,
    dir: await builtNextApplication(),
    hostname: "localhost",
    port,
    quiet: true,
  });
  await app.prepare();
  const handle = app.getRequestHandler();
  return {
    async start(setup) {
      const auths = harness.start?.(setup) as readonly ApplicationAuth[];
      const server = await listen((request, response) => {
        // For the matcher of proxy.ts, which is fixed at build time.
        if (setup.earlier.length > 0) request.headers["x-test-earlier"] = "yes";
        void setups.run(setup, () => handle(request, response));
      });
      return { auths, ...server };
    },
    close: () => app.close(),
  };
}
