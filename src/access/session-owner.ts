import { identityOf, type EventIdentity } from "../events/event-hub.js";
import type { Registration } from "../ports/registration.js";
import { clientOf, type SessionRecord } from "../record/record.js";

/** Who a session belongs to: the user, and the registration at the user's provider. */
export class SessionOwner<Own extends Registration = Registration> {
  /** Undefined: nobody is signed in. Sessions of other clients are never read. */
  readonly registration: Own | undefined;
  readonly #record: SessionRecord | undefined;

  constructor(record: SessionRecord | undefined, registrations: readonly Own[]) {
    this.registration = record && clientOf(record, registrations);
    this.#record = record;
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
