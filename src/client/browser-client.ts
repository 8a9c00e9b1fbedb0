import { trackActivity } from "./activity.js";
import type { Client, ClientOptions } from "./client-interface.js";
import type { Environment } from "./environment.js";
import { popupOf, signInWith, signOutWith, stepUpWith } from "./navigation.js";
import { startSession } from "./session.js";
import { waitingFetch } from "./waiting-requests.js";

/** Returns a client in a browser, or in one that a test makes. */
export function startClient<ClientData extends object>(
  options: ClientOptions<ClientData>,
  env: Environment,
): Client<ClientData> {
  const session = startSession(options, env);
  if (options.trackActivity) trackActivity(session, env);
  const { mount, getState, getInitialState, subscribe, probe, close } = session;
  // A page of the application where the login should be. Only a developer can mend that.
  if (
    Boolean(env.document) &&
    /\/127|localhost/.test(mount) &&
    env.location.href.startsWith(`${mount}login/`)
  )
    env.console.warn(
      `${env.navigator.serviceWorker?.controller?.scriptURL ?? "A fallback"} hides ${mount}login/.`,
    );
  const openPopup = popupOf(session, env);
  const signIn = signInWith(session, env, openPopup);
  const stepUp = stepUpWith(session, openPopup);
  return {
    getState,
    getInitialState,
    subscribe,
    refresh: () => probe(),
    keepAlive: () => probe({ slide: true }),
    signIn,
    signOut: signOutWith(session, env),
    stepUp: ({ maxAge, acr }) =>
      stepUp({
        ...(maxAge !== undefined && { max_age: maxAge }),
        ...(acr && { acr_values: [acr].flat().join(" ") }),
      }),
    fetch: waitingFetch(session, env, {
      stepUp,
      navigate: options.whenSignedOut === "navigate" && signIn,
    }),
    close,
  };
}
