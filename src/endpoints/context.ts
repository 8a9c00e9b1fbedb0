import type { AccessContext } from "../access/access-context.js";
import type { SessionAccess } from "../access/session-access.js";
import type { Owners } from "../access/session-owner.js";
import type { Api } from "../config/api-options.js";
import type { SourceOptions } from "../config/provider-source.js";
import type { CommonSettings, Settings } from "../config/read-settings.js";
import type { Finding } from "../errors.js";
import type { HostGate } from "../http/origins.js";
import type { Pages } from "../pages/pages.js";
import type { Registration } from "../ports/registration.js";
import type { Subject } from "../record/identity.js";
import type { KeyNames } from "../record/stored-form.js";
import type { CallbackStates } from "../sessions/callback-states.js";
import type { OwnForms } from "../sessions/form-proof.js";
import type { ProviderLogouts } from "../sessions/provider-logouts.js";
import type { SealedParameter } from "../sessions/sealed-parameter.js";
import type { SubjectSessions } from "../sessions/subject-sessions.js";
import type { Shutdown } from "../work/shutdown.js";
import type { Release } from "../work/slots.js";
import type { DelayedRevocations } from "./revocation-after-logout.js";

/** A registration with what its endpoints need. */
export interface EndpointRegistration extends Registration {
  readonly settings: Settings;
  /**
   * Limits the concurrent code exchanges, since anyone can send a code. While one provider hangs,
   * sign-ins at the others succeed.
   */
  readonly takeExchangeSlot: () => Promise<Release>;
  /** The same for pushed authorization requests. */
  readonly takePushSlot: () => Promise<Release>;
  /** Whether a login asks for `auth_time`, because a route may need it. */
  readonly requestsAuthTime: () => boolean;
  /** Undefined with the framework's own sessions, like `subjectSessions`. */
  readonly logouts: ProviderLogouts | undefined;
}

/** Further providers, which a source gives. */
export interface EndpointSource {
  /**
   * Returns the registration at the provider with this key. Undefined: there is none.
   *
   * @param origin who has written the key
   * @throws ProviderUnavailableError as a rejection
   */
  find(
    key: string,
    origin: "session" | "request",
  ): EndpointRegistration | undefined | Promise<EndpointRegistration | undefined>;
  /** Undefined: the application knows no organization by an e-mail address. */
  readonly findByEmailDomain: SourceOptions["findByEmailDomain"];
  /** The settings that turn endpoints on. Each provider can turn off its own. */
  readonly inherited: Partial<Settings>;
}

/** The parts that all requests share. */
export interface EndpointContext extends AccessContext {
  readonly settings: CommonSettings;
  /** Those that are known at the start. */
  readonly registrations: readonly EndpointRegistration[];
  /** Undefined: there are no others. */
  readonly source: EndpointSource | undefined;
  readonly owners: Owners<EndpointRegistration>;
  readonly apis: ReadonlyMap<string, Api>;
  readonly names: KeyNames;
  readonly pages: Pages;
  /** Undefined: the application has one origin, so every host is served. */
  readonly hosts: HostGate | undefined;
  readonly access: SessionAccess<EndpointRegistration>;
  /** The sessions of a user. Undefined with the framework's own sessions. */
  readonly subjectSessions: SubjectSessions | undefined;
  readonly revocations: DelayedRevocations;
  /** Tells a login that a form of our own page has begun, where browsers send no Sec-Fetch-Site. */
  readonly ownForms: OwnForms;
  /** The response of a provider, on its way from the posted form to the callback's GET. */
  readonly postedResponses: SealedParameter;
  /** The states of logins whose callback arrives at IDP_CALLBACK_ORIGIN. */
  readonly callbackStates: CallbackStates;
  /** The keyed hash that tells one user from another in the browser. */
  readonly accountOf: (subject: Subject) => string;
  readonly shutdown: Shutdown;
  /** The warnings of the startup checks; the debug endpoint shows them. */
  readonly findings: readonly Finding[];
}
