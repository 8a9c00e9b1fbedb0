import type { Clock } from "../clock.js";
import type { UnnamedFinding } from "../config/findings.js";
import type { ConfiguredProvider } from "../config/read-settings.js";
import { inReportOrder } from "../config/startup-checks.js";
import type { Finding } from "../errors.js";
import { parseUrl } from "../http/redirects.js";
import {
  namedFor,
  ProviderCheck,
  tellsOfRefreshTokens,
  type ProviderIo,
  type ProviderResult,
} from "../live/check-provider.js";
import { liveCheck } from "../live/live-check-table.js";
import { shownEndpoint } from "../live/message-parts.js";
import type { TokenTarget } from "../ports/provider.js";
import { withEndpointsInUse } from "../provider/endpoints-in-use.js";
import { ADDRESS_REFUSED } from "../provider/http-to-provider.js";
import { within } from "../work/deadline.js";
import type { TenantFetch } from "./tenant-fetch.js";

/** What was read of a provider's options. */
export interface ReadProvider<Provider> {
  /** Undefined: `findings` contains an error. */
  readonly provider?: Provider | undefined;
  readonly findings: readonly Finding[];
}

export interface TenantCheckOptions<Provider> {
  /** As the application passes them, unchecked. */
  readonly options: unknown;
  readonly read: (options: unknown) => ReadProvider<Provider>;
  /** Returns how requests to this provider are sent. */
  readonly networkOf: (provider: Provider) => TenantFetch;
  /**
   * The provider's key. Undefined: it has none yet, so that its redirect URI isn't known and isn't
   * checked.
   */
  readonly key: string | undefined;
  /** The application's origin for this customer. Undefined: that of BASE_URL, if it is one. */
  readonly origin?: string | undefined;
  /** The APIs for whose own tokens it is asked. */
  readonly targets?: readonly TokenTarget[];
  readonly clock: Clock;
}

/** Milliseconds for all requests of a check. */
const CHECK_MS = 10_000;

const TOO_SLOW = liveCheck(
  "E101",
  `The provider's server is so slow that the check ended after ${CHECK_MS / 1000} seconds, before it had tried everything.`,
  "Check the provider's health, then try again.",
);

/** The endpoints to which the check sends no request of its own. */
const NOT_FETCHED = ["userinfo_endpoint", "revocation_endpoint", "end_session_endpoint"];

/**
 * Checks the options of a provider from a source, then asks the provider as `idpauth check --live`
 * does. Ends after 10 seconds with what was found until then, and never rejects because of the
 * provider.
 *
 * @returns errors first
 */
export async function checkProvider<Provider extends ConfiguredProvider>({
  options,
  read,
  ...rest
}: TenantCheckOptions<Provider>): Promise<readonly Finding[]> {
  const { provider, findings } = read(options);
  if (provider === undefined) return inReportOrder(findings);
  const result = await askedInTime(provider, rest);
  const known = tellsOfRefreshTokens(result)
    ? findings.filter(({ code }) => code !== "W004")
    : findings;
  return inReportOrder([...known, ...result.findings]);
}

async function askedInTime<Provider extends ConfiguredProvider>(
  provider: Provider,
  {
    key,
    origin,
    targets = [],
    networkOf,
    clock,
  }: Omit<TenantCheckOptions<Provider>, "options" | "read">,
): Promise<ProviderResult> {
  const { names } = provider;
  const settings = { ...provider.settings, ...(origin !== undefined && { baseUrl: origin }) };
  const network = networkOf(provider);
  const certified = network.certified(settings);
  const withMore = (result: ProviderResult, more: readonly UnnamedFinding[]) => ({
    ...result,
    findings: [...result.findings, ...namedFor(names, more)],
  });
  let check: ProviderCheck | undefined;
  let late: ProviderResult | undefined;
  const work = async (deadline: AbortSignal): Promise<ProviderResult> => {
    // Without a key, everything that the redirect URI is made of is as good as missing.
    const refused = new Set(key === undefined ? (["baseUrl"] as const) : []);
    check = new ProviderCheck({
      target: { key, settings, refused, targets, names },
      io: untilDeadline({ network, certified }, clock, deadline),
    });
    await check.run();
    const result = check.result();
    return withMore(result, refusedEndpoints(result, provider, network));
  };
  try {
    return await within(work, {
      clock,
      milliseconds: CHECK_MS,
      late() {
        // At once, because the requests that are broken off now would add findings of their own.
        late = check && withMore(check.result(), [TOO_SLOW]);
        return new Error("The time limit has passed.");
      },
    });
  } catch (error) {
    if (late === undefined) throw error;
    return late;
  } finally {
    certified?.close();
  }
}

/** How requests are sent that all end with the check. */
function untilDeadline(
  { network, certified }: { network: TenantFetch; certified: TenantFetch | undefined },
  clock: Clock,
  deadline: AbortSignal,
): ProviderIo {
  const signalOf = (own: AbortSignal | null | undefined) =>
    own ? AbortSignal.any([own, deadline]) : deadline;
  const sendBy =
    (one: TenantFetch): typeof fetch =>
    (input, init) =>
      one.fetch(input, { ...init, signal: signalOf(init?.signal) });
  return {
    clock,
    fetch: sendBy(network),
    certified: certified && sendBy(certified),
    navigate: (address, signal) => network.navigate(address, signalOf(signal)),
  };
}

/** The findings about addresses that a sign-in may use later. */
function refusedEndpoints(
  { document, findings }: ProviderResult,
  { settings }: ConfiguredProvider,
  network: TenantFetch,
): UnnamedFinding[] {
  const endpoints = withEndpointsInUse(document ?? {}, settings);
  // The check navigates to this one only if the redirect URI is known.
  const isNavigated = findings.some(
    ({ code, message }) => code === "E117" && message.includes("authorization endpoint"),
  );
  const names = isNavigated ? NOT_FETCHED : ["authorization_endpoint", ...NOT_FETCHED];
  return names.flatMap((name) => {
    const address = endpoints[name];
    const url = typeof address === "string" ? parseUrl(address) : undefined;
    if (url === undefined || network.allows(url)) return [];
    const shown = shownEndpoint(url.href);
    const where = shown === undefined ? "" : ` (${shown})`;
    return liveCheck(
      "E117",
      `The ${name} of the provider${where} is an address that idpauth doesn't use (${ADDRESS_REFUSED}).`,
    );
  });
}
