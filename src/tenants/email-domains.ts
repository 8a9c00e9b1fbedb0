/** Whose e-mail addresses a customer's provider can vouch for. */
import type { Provider } from "../ports/provider.js";
import type { Identity } from "../record/credentials.js";
import type { IdInfo } from "../record/identity.js";

/**
 * Returns the provider whose users' addresses are verified in these domains alone. Otherwise the
 * administrator of one customer could sign in as another's by an address.
 */
export function withEmailDomains(provider: Provider, domains: readonly string[]): Provider {
  const checked = <Verified extends Identity>(identity: Verified): Verified => ({
    ...identity,
    idInfo: verifiedIn(identity.idInfo, domains),
    ...(identity.userinfo && { userinfo: verifiedIn(identity.userinfo, domains) }),
  });
  return {
    ...provider,
    exchange: async (exchange) => checked(await provider.exchange(exchange)),
    verifyRefreshed: async (spent, previous, request) =>
      checked(await provider.verifyRefreshed(spent, previous, request)),
  };
}

function verifiedIn(claims: IdInfo, domains: readonly string[]): IdInfo {
  const { email } = claims;
  const domain = typeof email === "string" ? email.split("@").at(-1)?.toLowerCase() : undefined;
  return domain !== undefined && domains.includes(domain)
    ? claims
    : { ...claims, email_verified: false };
}
