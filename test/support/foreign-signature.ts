/** ID tokens that somebody else signs. */
import { generateKeyPairSync } from "node:crypto";
import type { IdTokenDraft } from "../../src/testing/provider/test-provider.js";

/** A key that no provider publishes. */
export const STRANGER = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

/** Signs with the stranger's key, with what the header is made to say about it, such as `kid`. */
export const byStranger =
  (changes: Readonly<Record<string, unknown>> = {}) =>
  ({ header, claims, sign }: IdTokenDraft): string =>
    sign({ ...header, ...changes }, claims, STRANGER);
