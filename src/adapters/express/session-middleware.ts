import type { SessionMiddleware } from "../../adapter.js";

/**
 * One entry of an Express router's stack; the shape is the same in Express 4 and 5 but for how
 * "mounted at /" is said.
 */
interface Layer {
  readonly name?: string;
  readonly route?: unknown;
  readonly slash?: boolean;
  readonly regexp?: { readonly fast_slash?: boolean };
  readonly handle?: { readonly stack?: readonly Layer[] };
}

/** Middleware that certainly installs no session. Anything else might wrap one. */
const NO_SESSION =
  /^(?:query|expressInit|jsonParser|urlencodedParser|rawParser|textParser|serveStatic|cookieParser|corsMiddleware|helmetMiddleware|compression|logger)$/;

/**
 * Whether express-session is installed, as the stack shows it at this moment: what comes after
 * idpauth is not there yet, and would come too late. Wrapped, nested and parent middleware cannot
 * be told.
 */
export function sessionMiddlewareOf(app: object): SessionMiddleware {
  const layers = stackOf(app);
  let verdict: SessionMiddleware = "settings" in app ? "absent" : "unknown";
  for (const layer of layers) {
    if (layer.route !== undefined) continue;
    if (layer.name === "_cookieSession") return "cookie-only";
    if (layer.name === "session" && isEverywhere(layer)) return "present";
    if (!isHarmless(layer)) verdict = "unknown";
  }
  return verdict;
}

function isHarmless(layer: Layer): boolean {
  const nested = layer.handle?.stack;
  if (nested !== undefined)
    return nested.every((inner) => inner.route !== undefined || isHarmless(inner));
  return NO_SESSION.test(layer.name ?? "");
}

function isEverywhere(layer: Layer): boolean {
  return layer.slash === true || layer.regexp?.fast_slash === true;
}

function stackOf(app: object): readonly Layer[] {
  const { stack, _router: router4 } = app as {
    stack?: readonly Layer[];
    _router?: { stack?: readonly Layer[] };
  };
  if (stack !== undefined) return stack;
  if (router4?.stack !== undefined) return router4.stack;
  try {
    // Express 4 has a getter here that throws; there, no router yet means an empty stack.
    return (app as { router?: { stack?: readonly Layer[] } }).router?.stack ?? [];
  } catch {
    return [];
  }
}
