/**
 * The login of a user whose organization isn't known yet: the page that asks for the work email
 * address, and what that address leads to. Loaded by its first use.
 */
import type { SessionRequest } from "../access/session-request.js";
import type { Clock } from "../clock.js";
import { isSourceKey } from "../config/provider-source.js";
import { ProviderUnavailableError } from "../errors.js";
import { problem, type Reply } from "../http/reply.js";
import { MAX_EMAIL_LENGTH } from "../pages/organization-page.js";
import { inTime } from "../work/deadline.js";
import { createSlots, type Slots } from "../work/slots.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { choicesOf, listed, type Kept } from "./provider-chooser.js";

/** Milliseconds for which `findByEmailDomain` may run, and for which a request waits for a slot. */
const TIME_LIMIT_MS = 5_000;

/** The concurrent calls of `findByEmailDomain` in one process: anyone can cause one. Our decision. */
const LIMIT = 16;

/** The reason in the error when `findByEmailDomain` throws, takes too long, or is called too often. */
const REASON = "provider_source";

const HINT = "login_hint";

interface OrganizationQuestion {
  /** The parameters that the login keeps. */
  readonly kept: Kept;
  /** The providers that users can choose without an address. */
  readonly providers: readonly EndpointRegistration[];
  readonly isJson: boolean;
  /** The address for which no organization was found. Default: the page asks for the first time. */
  readonly unknown?: string;
}

/**
 * Returns the page that asks for the work email address, or 400 for a script, with the parameters
 * of which the login needs one. The page shows an unknown address again, so that the user can
 * correct it. It has status 200 then, too, as the landing page after a failed sign-in.
 */
export async function organizationFor(
  { request }: SessionRequest,
  { pages }: Pick<EndpointContext, "pages">,
  { kept, providers, isJson, unknown }: OrganizationQuestion,
): Promise<Reply> {
  const choices = choicesOf(providers, kept, pages);
  const isUnknown = unknown !== undefined;
  if (isJson) {
    const detail = isUnknown
      ? "No organization was found for this email address."
      : "Send the key of the organization's provider as the parameter provider, or post the user's email address as the field email.";
    const members = {
      parameters: ["provider", "email"],
      providers: listed(choices),
      ...(isUnknown && { reason: "organization_unknown" }),
    };
    return problem("provider_required", detail, { members });
  }
  const hint = kept.find(([name, value]) => name === HINT && value.includes("@"))?.[1];
  const page = {
    // The address that the user enters is the hint.
    kept: kept.filter(([name]) => name !== HINT),
    providers: choices,
    email: unknown ?? hint,
    isUnknown,
  };
  return pages.organization(page, request);
}

/** What an email address leads to. */
export type FoundOrganization =
  | {
      readonly kind: "found";
      /** The key of a provider, which may no longer exist. */
      readonly key: string;
      /** The address as the user entered it. */
      readonly loginHint: string;
    }
  | { readonly kind: "unknown" };

interface OrganizationSearch {
  /**
   * The application's function: it gets a domain in lower case and ASCII, and returns a provider's
   * key, or undefined.
   */
  readonly findByEmailDomain: (domain: string) => unknown;
  /** See {@link organizationSlots}. */
  readonly slots: Slots;
  readonly clock: Clock;
}

/** Returns the slots in which `findByEmailDomain` is called. */
export function organizationSlots(clock: Clock): Slots {
  return createSlots({ limit: LIMIT, reason: REASON, clock, patience: TIME_LIMIT_MS });
}

const UNKNOWN = { kind: "unknown" } as const;

/**
 * Returns the provider of the organization to which an email address belongs. The application gets
 * the domain only, so the result is the same for every address of a domain and doesn't tell
 * whether a user exists. Found and unknown domains take the same path, and nothing is stored or
 * logged. Whether a domain belongs to a customer is no secret: the sign-in itself shows it.
 *
 * @throws ProviderUnavailableError `findByEmailDomain` threw or took too long, or too many calls
 *   are waiting. `cause` is what it threw
 */
export async function findOrganization(
  email: string,
  { findByEmailDomain, slots, clock }: OrganizationSearch,
): Promise<FoundOrganization> {
  const address = email.trim();
  const domain = domainOf(address);
  if (domain === undefined) return UNKNOWN;
  const release = await slots.take();
  try {
    const late = () => new ProviderUnavailableError(REASON);
    // An async function, because the application's may throw instead of returning a promise.
    const found = await inTime(
      (async () => findByEmailDomain(domain))().catch((cause: unknown) => {
        throw new ProviderUnavailableError(REASON, { cause });
      }),
      { clock, milliseconds: TIME_LIMIT_MS, late },
    );
    return isSourceKey(found) ? { kind: "found", key: found, loginHint: address } : UNKNOWN;
  } finally {
    // Also of a call that still runs: otherwise those that never end would take every slot.
    release();
  }
}

/**
 * Returns the query of the login at the provider that was found: the posted fields, without those
 * that the provider and the address replace.
 */
export function loginQuery(
  fields: URLSearchParams,
  { key, loginHint }: Extract<FoundOrganization, { kind: "found" }>,
): URLSearchParams {
  const replaced = ["email", "provider", "iss", HINT];
  const kept = [...fields].filter(([name]) => !replaced.includes(name));
  return new URLSearchParams([["provider", key], ...kept, [HINT, loginHint]]);
}

/** A local part: no space, control or unpaired surrogate. Quoted ones with spaces are refused. */
const LOCAL_PART = /^[^\s\p{C}@]{1,64}$/u;

/**
 * Characters that the URL parser would drop, decode, or read as the end of the host. Those that it
 * maps to one of them in a host, such as a full-width slash, make it throw.
 */
const NO_DOMAIN = /[\s\p{C}/\\?#@:[\]%]/u;

/** The name of a host in ASCII (RFC 1123), of at most 253 characters. */
const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.(?!$)|$))+$/;

/** Dotted, which is how the URL parser writes any form of an IPv4 address. */
const IPV4 = /^[\d.]+$/;

/**
 * Returns the domain of an email address, in lower case and ASCII. Undefined: it isn't the address
 * of a domain.
 */
function domainOf(address: string): string | undefined {
  if (address.length > MAX_EMAIL_LENGTH) return undefined;
  const [local = "", domain = "", ...others] = address.split("@");
  if (others.length > 0 || !LOCAL_PART.test(local) || domain === "" || NO_DOMAIN.test(domain))
    return undefined;
  const host = URL.parse(`https://${domain}`)?.hostname ?? "";
  return HOST_NAME.test(host) && !IPV4.test(host) ? host : undefined;
}
