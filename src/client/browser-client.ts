import { trackActivity } from "./activity.js";
import type { Client, ClientOptions } from "./client-interface.js";
import type { Environment } from "./environment.js";
import { signInWith, signOutWith } from "./navigation.js";
import { startSession } from "./session.js";
import { waitingFetch } from "./waiting-requests.js";

/** Returns a client in a browser, or in one that a test makes. */
export function startClient<ClientData extends object>(
  options: ClientOptions<ClientData>,
  env: Environment,
): Client<ClientData> {
  const session = startSession(options, env);
  if (options.trackActivity) trackActivity(session, env);
  if (Boolean(env.document) && env.location.href.startsWith(`${session.mount}login/`))
    env.console.warn(
      `A fallback hides the login. Exclude ${session.mount} from your service worker.`,
    );
  const signIn = signInWith(session, env);
  return {
    getState: session.getState,
    getInitialState: session.getInitialState,
    subscribe: session.subscribe,
    refresh: () => session.probe(),
    keepAlive: () => session.probe(true),
    signIn,
    signOut: signOutWith(session, env),
    fetch: waitingFetch(session, env, options.whenSignedOut === "navigate" ? signIn : undefined),
    close: session.close,
  };
}
