// Signs a user in as a browser does: login, provider, callback. Returns the session's Cookie
// header.
import { once } from "node:events";
import { get } from "node:http";
import { text } from "node:stream/consumers";

export async function signIn(origin, provider) {
  const login = await ask(`${origin}/idpauth/login/`);
  const callback = await provider.signInCode(login.location);
  const signedIn = await ask(callback, login.cookie);
  if (signedIn.cookie === undefined)
    throw new Error(`the callback set no cookie: ${signedIn.status} ${signedIn.body}`);
  return signedIn.cookie;
}

/** Not by `fetch`, whose `Sec-Fetch-Mode` says that no user has clicked. */
async function ask(url, cookie) {
  const request = get(url, { headers: cookie === undefined ? {} : { cookie } });
  const [response] = await once(request, "response");
  const body = await text(response);
  const { statusCode: status, headers } = response;
  if (status !== 302) throw new Error(`${url} answered ${status}: ${body}`);
  return {
    status,
    body,
    location: headers.location,
    cookie: headers["set-cookie"]?.[0]?.split(";", 1)[0],
  };
}

/** The client settings of an application at the provider. */
export function clientOf(provider) {
  return {
    issuer: provider.issuer,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
  };
}
