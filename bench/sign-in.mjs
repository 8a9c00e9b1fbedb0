// Signs a user in as a browser does: login, provider, callback. Returns the session's Cookie
// header.
export async function signIn(origin, provider) {
  const login = await ask(`${origin}/idpauth/login/`);
  const callback = await provider.signInCode(login.location);
  const signedIn = await ask(callback, login.cookie);
  if (signedIn.cookie === undefined)
    throw new Error(`the callback set no cookie: ${signedIn.status} ${signedIn.body}`);
  return signedIn.cookie;
}

async function ask(url, cookie) {
  const response = await fetch(url, {
    redirect: "manual",
    headers: cookie === undefined ? {} : { cookie },
  });
  const body = await response.text();
  if (response.status !== 302) throw new Error(`${url} answered ${response.status}: ${body}`);
  return {
    status: response.status,
    body,
    location: response.headers.get("location"),
    cookie: response.headers.getSetCookie()[0]?.split(";", 1)[0],
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
