import { identityOf, type EventIdentity } from "../events/event-hub.js";
import type { Registration } from "../ports/registration.js";
import { clientOf, isClientOf, type SessionRecord } from "../record/record.js";
import { withoutUndefined } from "../record/without-undefined.js";

/** The registrations from a source that this process remembers. */
export interface RememberedRegistrations<Own extends Registration = Registration> {
  /** Undefined: the source has no such provider, or this process doesn't remember it. */
  remembered(key: string): Own | undefined;
  /** As {@link remembered}, and asks the source. @throws ProviderUnavailableError as a rejection */
  find(key: string, origin: "session"): Own | undefined | Promise<Own | undefined>;
}

/** Knows who each session belongs to, and each user whom the provider or a list names. */
export class Owners<Own extends Registration = Registration> {
  readonly #registrations: readonly Own[];
  readonly #source: RememberedRegistrations<Own> | undefined;

  constructor(registrations: readonly Own[], source?: RememberedRegistrations<Own>) {
    this.#registrations = registrations;
    this.#source = source;
  }

  of(record: SessionRecord | undefined): SessionOwner<Own> {
    return new SessionOwner(record, this.#registrations, this.#source);
  }

  /**
   * As {@link SessionOwner.registration}, and asks the source if this process no longer remembers the
   * provider. Undefined: nobody is signed in, or the provider is gone.
   *
   * @throws ProviderUnavailableError the source fails
   */
  async registrationOf(record: SessionRecord | undefined): Promise<Own | undefined> {
    const { registration } = this.of(record);
    const sourceKey = record?.idp_state.provider;
    if (registration !== undefined || record === undefined || sourceKey === undefined)
      return registration;
    const found = await this.#source?.find(sourceKey, "session");
    return found !== undefined && isClientOf(record, found) ? found : undefined;
  }

  /**
   * Issuer, subject and provider of an event. Two providers can share an issuer; then the event
   * names neither.
   *
   * @param provider the key of the provider, if it is known
   */
  identityOf(iss: string, sub: string | undefined, provider?: string): EventIdentity {
    if (provider !== undefined) return identityOf(withoutUndefined({ iss, sub }), provider);
    const [first, ...others] = this.#registrations.filter(({ issuer }) => issuer === iss);
    return identityOf(withoutUndefined({ iss, sub }), others.length === 0 ? first?.key : undefined);
  }
}

/** Who a session belongs to: the user, and the registration at the user's provider. */
export class SessionOwner<Own extends Registration = Registration> {
  readonly #record: SessionRecord | undefined;
  readonly #registrations: readonly Own[];
  readonly #source: RememberedRegistrations<Own> | undefined;

  constructor(
    record: SessionRecord | undefined,
    registrations: readonly Own[],
    source?: RememberedRegistrations<Own>,
  ) {
    this.#record = record;
    this.#registrations = registrations;
    this.#source = source;
  }

  /**
   * Undefined: nobody is signed in. Sessions of other clients are never read, and a provider from a
   * source was remembered when the session was read. If its key has another issuer or client since,
   * that one gets none of the session's tokens.
   */
  get registration(): Own | undefined {
    const record = this.#record;
    const sourceKey = record?.idp_state.provider;
    if (record === undefined || sourceKey === undefined)
      return record && clientOf(record, this.#registrations);
    const remembered = this.#source?.remembered(sourceKey);
    return remembered !== undefined && isClientOf(record, remembered) ? remembered : undefined;
  }

  /** The provider's key. Undefined: nobody is signed in, or the only provider has no key. */
  get provider(): string | undefined {
    return this.#record?.idp_state.provider ?? this.registration?.key;
  }

  /** Provider, issuer and subject, as events carry them. */
  get identity(): EventIdentity {
    return identityOf(this.#record?.id_info, this.provider);
  }
}
