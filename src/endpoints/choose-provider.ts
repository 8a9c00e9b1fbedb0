/** Which of several providers a login goes to. */
import { loginProviders } from "../access/login-provider.js";
import { isIssuerOf } from "../config/tenant-issuers.js";
import { single } from "../http/request.js";
import type { BadParameter } from "../pages/failure-reply.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";

/** The providers that a login may go to. */
interface LoginProviders {
  readonly providers: readonly EndpointRegistration[];
  /** The login names none, and a source has further ones. */
  readonly mayBeOther: boolean;
}

/**
 * Reads the providers that a login may go to, by its parameters `provider`, `iss` (OpenID Connect
 * Core section 4) and `api`. One: the login goes to it. Several, or none: the user, or the script,
 * chooses one.
 *
 * @throws ProviderUnavailableError the source of providers fails
 */
export async function readProviders(
  own: URLSearchParams,
  { registrations, source, settings, apis }: EndpointContext,
  bad: BadParameter[],
): Promise<LoginProviders> {
  const { value: key, repeated } = single(own, "provider");
  // One provider without a key is never chosen.
  if (key !== undefined && settings.providers !== null) {
    const chosen = repeated
      ? undefined
      : (registrations.find((one) => one.key === key) ?? (await source?.find(key, "request")));
    if (chosen === undefined) bad.push({ name: "provider", options: settings.providers });
    return named(chosen === undefined ? [] : [chosen]);
  }
  const iss = single(own, "iss");
  if (iss.value !== undefined) {
    const chosen = registrations.filter(
      ({ issuer }) => !iss.repeated && isIssuerOf(issuer, iss.value),
    );
    const reason =
      "The parameter iss takes the issuer of the application's provider, or of one of them, and only once";
    if (chosen.length === 0) bad.push({ name: "iss", options: [], reason });
    return named(chosen);
  }
  const preferred = apis.get(own.get("api") ?? "")?.provider ?? settings.defaultProvider;
  if (source === undefined) return named(loginProviders(registrations, preferred));
  // The list isn't all that there is.
  const wanted =
    preferred === null
      ? undefined
      : (registrations.find((one) => one.key === preferred) ??
        (await source.find(preferred, "session")));
  if (wanted !== undefined) return named([wanted]);
  if (registrations.length === 0 && source.findByEmailDomain === undefined)
    bad.push({
      name: "provider",
      options: [],
      reason: "The parameter provider takes the key of your organization's provider",
    });
  return { providers: registrations, mayBeOther: true };
}

function named(providers: readonly EndpointRegistration[]): LoginProviders {
  return { providers, mayBeOther: false };
}

interface ApiChoice {
  readonly context: EndpointContext;
  /** Of the login; empty if they are bad. */
  readonly providers: readonly EndpointRegistration[];
}

/** Reads the API that a login asks for (parameter `api`). */
export function readApi(
  own: URLSearchParams,
  { context: { apis }, providers }: ApiChoice,
  bad: BadParameter[],
): string | undefined {
  const { value, repeated } = single(own, "api");
  if (apis.size === 0 || value === undefined) return undefined;
  const key = apis.get(value)?.provider;
  if (repeated || !apis.has(value)) bad.push({ name: "api", options: [...apis.keys()] });
  else if (key !== undefined && providers.length > 0 && !providers.some((one) => one.key === key)) {
    const reason = `The API ${value} is for users of the provider ${key}`;
    bad.push({ name: "api", options: [], reason });
  }
  return value;
}
