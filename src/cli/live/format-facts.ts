import type {
  CookieFacts,
  EndpointFacts,
  LiveFacts,
  LogoutFacts,
  StoreFacts,
} from "../../live/live-facts.js";

/** Returns one line for each known fact. */
export function factLines(facts: LiveFacts): string[] {
  const {
    redirectUri,
    cookie,
    issuer,
    endpoints,
    logout,
    clockOffset,
    pkce,
    iss,
    requests,
    assurance,
    login,
    refreshToken,
    client,
    store,
  } = facts;
  const lines = [
    `redirect URI: ${redirectUri ?? "unknown, since the application's base URL is unset or can't be used"}${registration(facts)}`,
    cookie && cookieLine(cookie),
    issuer && `issuer: ${issuer}`,
    ...(endpoints === null ? [] : endpointLines(endpoints)),
    ...(logout === null ? [] : logoutLines(logout)),
    client && `client: ${client}`,
    pkce !== null && `PKCE with S256: ${announced(pkce)}`,
    iss !== null && `iss in authorization responses (RFC 9207): ${announced(iss)}`,
    requests &&
      `authorization requests: ${requests === "pushed" ? "pushed (RFC 9126)" : "not pushed"}`,
    assurance !== null &&
      `high assurance: ${assurance.length === 0 ? "nothing advertised" : assurance.join(", ")}`,
    login && `scope of a login: ${login.scope}`,
    login?.resource !== undefined && `resource of a login: ${login.resource}`,
    login && `prompt of a login: ${login.prompt === "" ? "not sent" : login.prompt}`,
    refreshToken && `refresh token: ${refreshToken}`,
    clockOffset !== null && `clock: ${clockLine(clockOffset)}`,
    store && storeLine(store),
  ];
  return lines.filter((line) => typeof line === "string");
}

function registration({ redirectUriRegistered }: LiveFacts): string {
  if (redirectUriRegistered === null) return "";
  return redirectUriRegistered
    ? " (the provider redirects to it)"
    : " (the provider doesn't redirect to it)";
}

function cookieLine({ name, path, sameSite, secure }: CookieFacts): string {
  return `session cookie: ${name}; Path=${path}; HttpOnly; SameSite=${sameSite}${secure ? "; Secure" : ""}`;
}

function endpointLines(endpoints: EndpointFacts): string[] {
  return Object.entries(endpoints).map(
    ([name, address]) => `${spaced(name)} endpoint: ${(address as string | null) ?? "none"}`,
  );
}

function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function logoutLines({
  backchannel,
  backchannelSid,
  frontchannel,
  frontchannelSid,
}: LogoutFacts): string[] {
  // Only ID tokens show whether the provider sends `sid`.
  const line = (is: boolean, sid: boolean) =>
    `${announced(is)}${is ? `, sid ${announced(sid)}` : ""}`;
  return [
    `back-channel logout: ${line(backchannel, backchannelSid)}`,
    `front-channel logout: ${line(frontchannel, frontchannelSid)}`,
  ];
}

function announced(is: boolean): string {
  return is ? "advertised" : "not advertised";
}

function clockLine(offset: number): string {
  if (offset === 0) return "no visible difference";
  return `the provider is about ${Math.abs(offset)} s ${offset > 0 ? "ahead" : "behind"}`;
}

function storeLine({ name, roundTripMs }: StoreFacts): string {
  return `store: ${name}${roundTripMs === null ? "" : `, ${roundTripMs} ms for a read`}`;
}
