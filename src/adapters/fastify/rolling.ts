type OnSend = (request: object, reply: object, payload: undefined, done: () => void) => void;

/**
 * Whether @fastify/session saves sessions that a request has not changed (its option `rolling`, on by default).
 *
 * The plugin publishes no options. So its `onSend` hook runs once with a session that only notes whether the hook saves it.
 *
 * @returns false also if the hook is not found, for example in a later version
 */
export function isRolling(scope: object): boolean {
  return onSendHooksOf(scope).some((hook) => hook.name === "saveSession" && savesUnchanged(hook));
}

/** The `onSend` hooks of a scope and its parents. Fastify has no public way to list them. */
function onSendHooksOf(scope: object): readonly OnSend[] {
  const key = Object.getOwnPropertySymbols(scope).find(({ description }) => description === "fastify.hooks");
  const hooks = key && (scope as Record<symbol, { readonly onSend?: unknown } | undefined>)[key]?.onSend;
  return Array.isArray(hooks) ? (hooks as OnSend[]) : [];
}

function savesUnchanged(hook: OnSend): boolean {
  let isSaved = false;
  // The value of every cookie, with and without a prefix: the session's own id.
  const id = { startsWith: () => true, slice: (): object => id };
  const session = {
    sessionId: id,
    encryptedSessionId: id,
    cookie: { secure: false, toJSON: () => ({}) },
    isModified: () => false,
    isSaved: () => false,
    save(done: () => void) {
      isSaved = true;
      done();
    },
  };
  const request = { session, protocol: "https", cookies: new Proxy({}, { get: () => id }) };
  const reply = { setCookie: () => undefined, clearCookie: () => undefined };
  try {
    hook(request, reply, undefined, () => undefined);
  } catch {
    // A later version of the plugin needs more of a request.
  }
  return isSaved;
}
