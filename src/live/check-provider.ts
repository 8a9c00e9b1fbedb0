import type { Clock } from "../clock.js";
import { certificateFindings } from "../config/check-certificates.js";
import { named, type UnnamedFinding } from "../config/findings.js";
import type { SettingName, Settings } from "../config/read-settings.js";
import {
  textWith,
  withProvider,
  type SettingNames,
  type SettingText,
} from "../config/setting-names.js";
import { ProviderUnavailableError, type Finding } from "../errors.js";
import { EventHub } from "../events/event-hub.js";
import type { Provider, TokenTarget } from "../ports/provider.js";
import type { Document } from "../provider/endpoints-in-use.js";
import { createProviderHttp, type ProviderHttp } from "../provider/http-to-provider.js";
import { createOpenIdProvider } from "../provider/openid-provider.js";
import { signingAlgorithms } from "../provider/provider-metadata.js";
import { lazily } from "../work/lazily.js";
import { assuranceFact, assuranceFindings } from "./check-assurance.js";
import {
  announcesIss,
  authMethodFindings,
  flowFindings,
  checkPkce,
  checkRefresh,
  checkRequests,
  loginFact,
  mayEncryptIdTokens,
  unlistedScopeFindings,
} from "./check-capabilities.js";
import { checkClient, CLIENT_NOT_KNOWN, type ClientQuestion } from "./check-client.js";
import { clockFindings } from "./check-clock.js";
import { discover } from "./check-discovery.js";
import { checkEndpoints, shownEndpoints } from "./check-endpoints.js";
import { checkLogout } from "./check-logout.js";
import { checkRedirectUri, redirectUriOf } from "./check-redirect-uri.js";
import { keyFindings } from "./check-signing-keys.js";
import { liveCheck } from "./live-check-table.js";
import { cookieFact, noFacts, type EndpointFacts, type LiveFacts } from "./live-facts.js";
import { shownAddress } from "./message-parts.js";
import type { Navigate } from "./navigation.js";
import { timedFetch, type Exchange, type TimedFetch } from "./timed-fetch.js";

/** A provider to check. */
export interface ProviderTarget {
  /** Undefined: there is one provider, without a key. */
  readonly key: string | undefined;
  readonly settings: Settings;
  /** Missing, or refused by the startup checks. The values in `settings` are placeholders. */
  readonly refused: ReadonlySet<SettingName>;
  /** The APIs for whose own tokens it is asked. */
  readonly targets: readonly TokenTarget[];
  /** Names the settings as the application sets them. */
  readonly names: SettingNames;
}

/** The I/O of the check. */
export interface ProviderIo {
  /** This machine's clock. The provider's clock is compared with it. */
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** Shows the client's certificate. Default: connections of its own, if it has one. */
  readonly certified?: typeof fetch | undefined;
  readonly navigate: Navigate;
}

export interface ProviderCheckOptions {
  readonly target: ProviderTarget;
  readonly io: ProviderIo;
  /** Called with the name of each slow step. */
  readonly progress?: (step: string) => void;
}

/** What a check of a provider has found so far. */
export interface ProviderResult {
  readonly findings: readonly Finding[];
  readonly facts: LiveFacts;
  /** What was not checked, and why. */
  readonly notSeen: readonly string[];
  /** The discovery document, as it was received; undefined: none was. */
  readonly document: Document | undefined;
  /** The requests, except for the one that a browser would send. */
  readonly exchanges: readonly Exchange[];
}

/** The findings with which the application sends no login. */
const NO_LOGIN = ["E114", "E115", "E118"];

const ENCRYPTION =
  "Whether the provider encrypts this client's ID tokens, which idpauth doesn't support. The provider is able to. If it does, sign-ins fail, and the log names the cause.";
const SID =
  "Whether ID tokens contain `sid`, which a logout by the provider needs to find its sessions. If they don't, idpauth logs `sid_missing` when a user signs in.";

/** Gives findings the names that the application's settings have. */
export function namedFor(names: SettingNames, findings: readonly UnnamedFinding[]): Finding[] {
  return findings.map((finding) => {
    const { message, ...what } = named(finding, names);
    // A setting's name may be the first word.
    return { ...what, message: message.replace(/^the /, "The ") };
  });
}

/**
 * Whether the provider tells more of refresh tokens than the issuer, from which W004 comes: that a
 * refresh token needs no scope, or that the provider doesn't know the scope that W004 recommends
 * (W103).
 */
export function tellsOfRefreshTokens({ facts, findings }: ProviderResult): boolean {
  return facts.refreshToken === "expected" || findings.some(({ code }) => code === "W103");
}

const loadCertified = lazily(() => import("../provider/certificates/certified-requests.js"));

/** Leaves a certificate out that the startup checks refuse, as if it were a refused setting. */
function withUsableCertificate({
  settings,
  refused,
}: ProviderTarget): Pick<ProviderTarget, "settings" | "refused"> {
  // A certificate that expires soon is still shown.
  const isRefused = certificateFindings(settings).some(({ severity }) => severity === "error");
  if (!isRefused) return { settings, refused };
  return {
    settings: { ...settings, clientCertificate: null, clientCertificateKey: null },
    refused: new Set([...refused, "clientCertificate"] as const),
  };
}

/** How the run sends requests. */
interface Requests {
  /** Whether the document's issuer is the configured one. */
  readonly isOurs: boolean;
  readonly timed: TimedFetch;
  readonly http: ProviderHttp;
}

/**
 * One check of a provider, as far as its settings allow. Collects facts and findings. Each step has
 * a time limit.
 */
export class ProviderCheck {
  readonly #facts = noFacts();
  readonly #findings: UnnamedFinding[] = [];
  readonly #notSeen: SettingText[] = [];
  #document: Document | undefined;
  #exchanges: readonly Exchange[] = [];
  readonly #target: ProviderTarget;
  readonly #refused: ReadonlySet<SettingName>;
  readonly #settings: Settings;
  readonly #targets: readonly TokenTarget[];
  readonly #io: ProviderIo;
  readonly #progress: (step: string) => void;

  constructor({ target, io, progress = () => undefined }: ProviderCheckOptions) {
    this.#target = target;
    const { settings, refused } = withUsableCertificate(target);
    this.#settings = settings;
    this.#refused = refused;
    this.#targets = target.targets;
    this.#io = io;
    this.#progress = progress;
  }

  async run(): Promise<void> {
    this.#address();
    await this.#provider();
  }

  /** Returns what was found until now. */
  result(): ProviderResult {
    const { key, names } = this.#target;
    return {
      document: this.#document,
      exchanges: this.#exchanges,
      facts: this.#facts,
      findings: namedFor(names, this.#findings),
      notSeen: this.#notSeen.map((text) => withProvider(key, textWith(names, text))),
    };
  }

  #lacks(...names: SettingName[]): boolean {
    return names.some((name) => this.#refused.has(name));
  }

  /** Adds the facts that depend on the settings only. */
  #address(): void {
    const { key } = this.#target;
    if (this.#lacks("baseUrl", "mountPath", "pathPrefix")) return;
    this.#facts.redirectUri = redirectUriOf(this.#settings, key);
    if (key !== undefined) this.#facts.key = key;
    if (this.#lacks("cookieName")) return;
    this.#facts.cookie = cookieFact(this.#settings);
  }

  async #provider(): Promise<void> {
    if (this.#lacks("issuer", "discoveryUrl")) {
      this.#notSeen.push("The identity provider: not checked, because of the errors above.");
      return;
    }
    const { clock, fetch } = this.#io;
    const timed = timedFetch(fetch, clock);
    this.#exchanges = timed.exchanges;
    const http = createProviderHttp({
      clock,
      timeout: this.#settings.httpTimeout,
      fetch: timed.fetch,
    });
    this.#progress("the provider's discovery document");
    const { document, isOurs, findings } = await discover(this.#settings, http);
    this.#findings.push(...findings);
    this.#document = document;
    if (document === undefined) {
      this.#notSeen.push(
        "Everything else about the identity provider: its discovery document is missing.",
      );
      return;
    }
    await this.#endpoints(document, { isOurs, timed, http });
    if (!this.#lacks("tokenEndpointAuthMethod")) {
      this.#findings.push(
        ...authMethodFindings(document, this.#settings, this.#facts.client === "accepted"),
      );
    }
    const { offset, findings: clockDifferences } = clockFindings(
      timed.exchanges,
      this.#settings.clockTolerance,
    );
    this.#facts.clockOffset = offset;
    this.#findings.push(...clockDifferences);
  }

  /** Checks the endpoints in the document, and asks them. @param requests how they are sent */
  async #endpoints(document: Document, { isOurs, timed, http }: Requests): Promise<void> {
    const endpoints = this.#announcements(document);
    if (endpoints.jwks !== null) {
      this.#progress("the provider's signing keys");
      this.#findings.push(
        ...(await keyFindings(endpoints.jwks, signingAlgorithms(document, this.#settings), {
          http,
          timeout: this.#settings.httpTimeout,
        })),
      );
    }
    if (
      isOurs &&
      endpoints.authorization !== null &&
      endpoints.token !== null &&
      endpoints.jwks !== null
    ) {
      await this.#probes(endpoints.token, timed);
    } else {
      this.#notSeen.push(
        "Whether the provider accepts client and redirect URI: not checked, since its discovery document can't be used.",
      );
    }
  }

  #announcements(document: Document): EndpointFacts {
    const settings = this.#settings;
    const endpoints = checkEndpoints(document, settings);
    this.#facts.issuer = shownAddress(document["issuer"]) ?? null;
    this.#facts.endpoints = shownEndpoints(endpoints.facts);
    const logout = checkLogout(document, settings, endpoints.facts.endSession);
    const requests = checkRequests(document, settings);
    this.#facts.requests = requests.fact;
    this.#facts.logout = logout.fact;
    this.#findings.push(
      ...endpoints.findings,
      ...logout.findings,
      ...flowFindings(document),
      ...requests.findings,
      ...assuranceFindings(document, settings),
    );
    if (mayEncryptIdTokens(document)) this.#notSeen.push(ENCRYPTION);
    if (settings.backchannelLogout || settings.frontchannelLogout) this.#notSeen.push(SID);
    if (!this.#lacks("scope", "loginPrompt", "authorizationParams"))
      this.#facts.login = loginFact(document, { settings, targets: this.#targets });
    if (!this.#lacks("scope")) {
      const refresh = checkRefresh(document, settings);
      this.#facts.refreshToken = refresh.fact;
      this.#findings.push(
        ...unlistedScopeFindings(document, { settings, targets: this.#targets }),
        ...refresh.findings,
      );
    }
    const pkce = checkPkce(document);
    this.#facts.pkce = pkce.fact;
    this.#findings.push(...pkce.findings);
    this.#facts.iss = announcesIss(document);
    this.#facts.assurance = assuranceFact(document);
    return endpoints.facts;
  }

  /** Checks client and redirect URI, with the code that the application runs. */
  async #probes(tokenEndpoint: string, { fetch, also, exchanges }: TimedFetch): Promise<void> {
    const { clock } = this.#io;
    const shown = await this.#certified();
    const certified = shown && also(shown);
    const events = new EventHub(() => undefined, clock);
    // No sign-in finishes here, so a missing userinfo endpoint, which E105 reports, must not end
    // the check.
    const create = (settings: Settings) =>
      createOpenIdProvider({
        settings: { ...settings, userinfo: "when-needed" },
        clock,
        events,
        fetch,
        certified,
        // The redirect URI is checked with the scopes and resources that a login sends.
        targets: this.#targets,
      });
    // `prompt=none` signs in no user. Only the check of the redirect URI sends it.
    const authorizationParams = { ...this.#settings.authorizationParams, prompt: "none" };
    const provider = create({ ...this.#settings, authorizationParams });
    const providerFor = (settings: Settings) =>
      settings === this.#settings ? provider : create(settings);
    if (!(await this.#isThere(provider))) return;
    await this.#client({ providerFor, exchanges, tokenEndpoint });
    await this.#redirectUri(provider);
  }

  async #certified(): Promise<typeof fetch | undefined> {
    if (this.#settings.clientCertificate === null) return undefined;
    const { certified } = this.#io;
    return certified ?? (await loadCertified()).createCertifiedRequests(this.#settings).fetch;
  }

  /** Checks whether the provider accepts the client. */
  async #client(probe: Omit<ClientQuestion, "settings" | "clock">): Promise<void> {
    if (
      !this.#lacks(
        "clientId",
        "clientSecret",
        "privateKey",
        "certificate",
        "clientCertificate",
        "clientCertificateKey",
        "tokenEndpointAuthMethod",
        "appleTeamId",
        "appleKeyId",
      )
    ) {
      this.#progress("whether the provider accepts the client");
      const { fact, refreshes, findings } = await checkClient({
        ...probe,
        settings: this.#settings,
        clock: this.#io.clock,
      });
      this.#facts.client = fact;
      if (refreshes === false) this.#facts.refreshToken = "not allowed";
      if (fact === "not known") this.#notSeen.push(CLIENT_NOT_KNOWN);
      // W103 may exist already, from the discovery document.
      this.#findings.push(
        ...findings.filter(({ code }) => !this.#findings.some((finding) => finding.code === code)),
      );
    } else {
      this.#notSeen.push(
        "Whether the provider accepts the client: not checked, because of the errors above.",
      );
    }
  }

  /** Checks whether the provider knows the redirect URI. */
  async #redirectUri(provider: Provider): Promise<void> {
    const { redirectUri } = this.#facts;
    if (this.#findings.some(({ code }) => NO_LOGIN.includes(code))) {
      this.#notSeen.push(
        "Whether the redirect URI is registered: not checked, because the application can't send a login (E114, E115, E118).",
      );
    } else if (
      this.#facts.requests === "pushed" &&
      (this.#facts.client === null || this.#facts.client === "refused")
    ) {
      this.#notSeen.push(
        "Whether the redirect URI is registered: logins are pushed, and the provider has to accept the client first.",
      );
    } else if (
      redirectUri !== null &&
      !this.#lacks("clientId", "scope", "loginPrompt", "authorizationParams")
    ) {
      this.#progress("whether the provider knows the redirect URI");
      const { isRegistered, refusesPrompt, findings } = await checkRedirectUri(
        provider,
        redirectUri,
        { ...this.#io, timeout: this.#settings.httpTimeout },
      );
      this.#facts.redirectUriRegistered = isRegistered;
      // With an internal address, this machine may not reach the one for browsers.
      const isInternal = this.#settings.discoveryUrl !== null;
      this.#findings.push(...findings.filter(({ code }) => code !== "E101" || !isInternal));
      if (isRegistered === null) {
        this.#notSeen.push(
          refusesPrompt === true
            ? "Whether the redirect URI is registered: this provider doesn't answer `prompt=none`. A sign-in shows it."
            : "Whether the redirect URI is registered: the authorization endpoint didn't respond, or its response doesn't show it.",
        );
      }
    } else {
      const isUnset = redirectUri === null && !this.#lacks("baseUrl", "mountPath", "pathPrefix");
      const hasSeveral = this.#settings.baseUrl !== null;
      this.#notSeen.push(
        ({ env }) =>
          `Whether the redirect URI is registered: not checked${isUnset ? (hasSeveral ? ", because there are several origins" : `. Set ${env("baseUrl")} to check it`) : ", because of the errors above"}.`,
      );
    }
  }

  /**
   * Fetches the document with the application's code, so that a later failure is a failure of
   * another endpoint.
   */
  async #isThere(provider: Provider): Promise<boolean> {
    try {
      await provider.facts();
      return true;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      const message = `The discovery document couldn't be fetched a second time (${error.reason}).`;
      this.#findings.push(
        liveCheck("E101", message, "The provider has an outage or is overloaded. Try again later."),
      );
      this.#notSeen.push(
        "Whether the provider accepts client and redirect URI: not checked, because the provider became unreachable during the check.",
      );
      return false;
    }
  }
}
