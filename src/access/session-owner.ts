import { identityOf, type EventIdentity } from "../events/event-hub.js";
import type { Registration } from "../ports/registration.js";
import { clientOf, type SessionRecord } from "../record/record.js";
import { withoutUndefined } from "../record/without-undefined.js";

/** Knows who each session belongs to, and each user whom the provider or a list names. */
export class Owners<Own extends Registration = Registration> {
  readonly #registrations: readonly Own[];

  constructor(registrations: readonly Own[]) {
    this.#registrations = registrations;
  }

  of(record: SessionRecord | undefined): SessionOwner<Own> {
    return new SessionOwner(record, this.#registrations);
  }

  /**
   * Issuer, subject and provider of an event. Two providers can share an issuer; then the event
   * names neither.
   */
  identityOf(iss: string, sub: string | undefined): EventIdentity {
    const [first, ...others] = this.#registrations.filter(({ issuer }) => issuer === iss);
    return identityOf(withoutUndefined({ iss, sub }), others.length === 0 ? first?.key : undefined);
  }
}

/** Who a session belongs to: the user, and the registration at the user's provider. */
export class SessionOwner<Own extends Registration = Registration> {
  readonly #record: SessionRecord | undefined;
  readonly #registrations: readonly Own[];

  constructor(record: SessionRecord | undefined, registrations: readonly Own[]) {
    this.#record = record;
    this.#registrations = registrations;
  }

  /** Undefined: nobody is signed in. Sessions of other clients are never read. */
  get registration(): Own | undefined {
    return this.#record && clientOf(this.#record, this.#registrations);
  }

  /** The provider's key. Undefined: nobody is signed in, or the only provider has no key. */
  get provider(): string | undefined {
    return this.registration?.key;
  }

  /** Provider, issuer and subject, as events carry them. */
  get identity(): EventIdentity {
    return identityOf(this.#record?.id_info, this.provider);
  }
}
