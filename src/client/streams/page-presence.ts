import type { StreamEnvironment } from "./stream-environment.js";

export interface PresenceParts {
  readonly env: StreamEnvironment;
  readonly closeWhenHidden: boolean;
  /** Stops watching. */
  readonly signal: AbortSignal;
  /** Called when the page has come or gone. */
  readonly changed: () => void;
}

/** Returns a function that tells whether the page is there, so that a connection may be open. */
export function watchPresence(parts: PresenceParts): () => boolean {
  const { env, closeWhenHidden, signal, changed } = parts;
  let isAway = false;
  const isPresent = () =>
    !isAway && (!closeWhenHidden || env.document.visibilityState === "visible");
  let wasPresent = isPresent();
  const listen = (type: string, away?: boolean) =>
    env.addEventListener(
      type,
      () => {
        isAway = away ?? isAway;
        if (isPresent() === wasPresent) return;
        wasPresent = !wasPresent;
        changed();
      },
      { signal },
    );
  listen("visibilitychange");
  // An open connection keeps a page out of the back/forward cache.
  listen("pagehide", true);
  listen("pageshow", false);
  return isPresent;
}
