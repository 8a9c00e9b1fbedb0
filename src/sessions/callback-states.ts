/**
 * The states of logins whose callback arrives at IDP_CALLBACK_ORIGIN: random as any state, and a
 * sealed part that says which origin the login belongs to. That origin's session alone proves the
 * login, so the sealed part is only a signpost.
 */
import type { Origin } from "../http/redirects.js";
import { PENDING_LOGIN_SECONDS } from "../record/pending-logins.js";
import {
  createSealedParameter,
  type SealedParameter,
  type SealedParameterOptions,
} from "./sealed-parameter.js";

/** Where a login began. */
export interface LoginPlace {
  readonly origin: Origin;
  /** The key of its provider. Undefined: the only provider has none. */
  readonly key: string | undefined;
}

const FORM = /^([\w-]{43})\.([\w.-]+)$/;

export class CallbackStates {
  readonly #sealed: SealedParameter;

  constructor(parts: Pick<SealedParameterOptions, "sealer" | "clock">) {
    this.#sealed = createSealedParameter({
      ...parts,
      purpose: "callback",
      seconds: PENDING_LOGIN_SECONDS,
    });
  }

  /**
   * @param random 256 random bits in base64url
   * @param callbackOrigin where the callback arrives
   */
  create(random: string, { origin, key }: LoginPlace, callbackOrigin: Origin): string {
    const place = { origin: callbackOrigin, path: random };
    return `${random}.${this.#sealed.seal(JSON.stringify([origin, key]), place)}`;
  }

  /** Undefined: no such state, made for another address, modified, or expired. */
  open(state: string, callbackOrigin: Origin): LoginPlace | undefined {
    const [, random, sealed] = FORM.exec(state) ?? [];
    if (random === undefined || sealed === undefined) return undefined;
    const content = this.#sealed.open(sealed, { origin: callbackOrigin, path: random });
    if (content === undefined) return undefined;
    const [origin, key] = JSON.parse(content) as readonly [Origin, string | null];
    return { origin, key: key ?? undefined };
  }
}
