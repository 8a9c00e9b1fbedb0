import type { TestProvider } from "../../src/testing/provider/test-provider.js";

export const RETURN_TO = "http://127.0.0.1:1/signed-out";
const REDIRECT_URI = "http://127.0.0.1:1/callback";

type Parameters = Readonly<Record<string, string>>;

/** A client of the test provider, without PKCE. */
export class LogoutClient {
  readonly #provider: TestProvider;

  constructor(provider: TestProvider) {
    this.#provider = provider;
  }

  async tokens(parameters: Parameters): Promise<Record<string, string>> {
    const { clientId, clientSecret, issuer } = this.#provider;
    const body = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      ...parameters,
    });
    return (await fetch(`${issuer}/token`, { method: "POST", body })).json() as Promise<
      Record<string, string>
    >;
  }

  /** Returns the token reply of a sign-in. */
  async signIn(
    parameters: Parameters = {},
    person?: Record<string, unknown>,
  ): Promise<Record<string, string>> {
    const { clientId, issuer } = this.#provider;
    const fixed = {
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      response_type: "code",
      scope: "openid",
    };
    const url = `${issuer}/authorize?${new URLSearchParams({ ...fixed, ...parameters }).toString()}`;
    const code =
      new URL(await this.#provider.signInCode(url, person)).searchParams.get("code") ?? "";
    return this.tokens({ grant_type: "authorization_code", redirect_uri: REDIRECT_URI, code });
  }

  async endSession(parameters: Parameters, method = "GET") {
    const sent = new URLSearchParams(parameters);
    const url = `${this.#provider.issuer}/end-session`;
    const response = await (method === "GET"
      ? fetch(`${url}?${sent.toString()}`, { redirect: "manual" })
      : fetch(url, { method, body: sent, redirect: "manual" }));
    return {
      status: response.status,
      location: response.headers.get("location"),
      text: await response.text(),
    };
  }
}
