import { epochSeconds, type Clock } from "../clock.js";
import type { ParameterPurpose, Sealer } from "./seal.js";

/** What a parameter is bound to besides its content: it can't be used elsewhere. */
export interface ParameterPlace {
  /** The origin that the parameter is for. */
  readonly origin: string;
  /** The path that the parameter is for. */
  readonly path: string;
}

/**
 * A value that a response of ours sends through the browser to a later request of ours. It's
 * encrypted, and accepted only for its purpose, at its place and until it expires.
 */
export interface SealedParameter {
  seal(content: string, place: ParameterPlace): string;
  /** Undefined: not sealed for this place, modified, or expired. */
  open(value: string, place: ParameterPlace): string | undefined;
}

export interface SealedParameterOptions {
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly purpose: ParameterPurpose;
  /** For how long a parameter is accepted. */
  readonly seconds: number;
}

const FORM = /^(\d{1,12})\.([\w-]{1,12288})$/;

export function createSealedParameter({
  sealer,
  clock,
  purpose,
  seconds,
}: SealedParameterOptions): SealedParameter {
  const bound = ({ origin, path }: ParameterPlace, expiresAt: string) =>
    JSON.stringify([origin, path, expiresAt]);
  return {
    seal(content, place) {
      const expiresAt = String(epochSeconds(clock) + seconds);
      const sealed = sealer.sealParameter(content, purpose, bound(place, expiresAt));
      return `${expiresAt}.${Buffer.from(sealed).toString("base64url")}`;
    },
    open(value, place) {
      const [, expiresAt, sealed] = FORM.exec(value) ?? [];
      if (expiresAt === undefined || sealed === undefined) return undefined;
      if (Number(expiresAt) <= epochSeconds(clock)) return undefined;
      const bytes = Buffer.from(sealed, "base64url");
      return sealer.openParameter(bytes, purpose, bound(place, expiresAt));
    },
  };
}
