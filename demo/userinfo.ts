/** Milliseconds for each of the two requests. */
const TIMEOUT = 5000;

/** The provider's response was unusable. The message never contains the provider's text. */
export class UserinfoError extends Error {
  /** Of the provider's response; undefined if there was none. */
  readonly status: number | undefined;

  constructor(
    message: string,
    { status, ...options }: ErrorOptions & { readonly status?: number } = {},
  ) {
    super(message, options);
    this.status = status;
  }
}

/**
 * Asks the provider's userinfo endpoint (OpenID Connect Core section 5.3): what an application does
 * with credentials.
 *
 * @param token the access token; travels in a header only
 */
export async function fetchUserinfo(issuer: string, token: string): Promise<unknown> {
  const base = issuer.replace(/\/$/, "");
  const metadata = await fetchJson(`${base}/.well-known/openid-configuration`);
  const endpoint = (metadata as { userinfo_endpoint?: unknown } | null)?.userinfo_endpoint;
  if (typeof endpoint !== "string")
    throw new UserinfoError("The provider announces no userinfo endpoint.");
  return fetchJson(endpoint, { authorization: `Bearer ${token}` });
}

async function fetchJson(url: string, headers: Record<string, string> = {}): Promise<unknown> {
  try {
    const answer = await fetch(url, {
      headers: { accept: "application/json", ...headers },
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    if (answer.ok) return await answer.json();
    throw new UserinfoError(`The provider answered with status ${answer.status}.`, {
      status: answer.status,
    });
  } catch (error) {
    if (error instanceof UserinfoError) throw error;
    throw new UserinfoError("The provider gave no usable answer.", { cause: error });
  }
}
