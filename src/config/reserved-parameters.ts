/** The parameters of an authorization request that no setting may contain. */
import { quoted } from "./describe-value.js";
import { providerCheck, type UnnamedFinding } from "./findings.js";
import { STEP_UP_PARAMETERS } from "./login-parameters.js";
import type { SettingName } from "./setting-table.js";

/**
 * The parameters that a setting must not contain, in lower case, since some servers ignore letter
 * case. idpauth sets them, or other settings do, or it does not support them. A secret and
 * an assertion must never reach a browser.
 */
export const RESERVED_PARAMETERS: readonly string[] = [
  "client_id",
  "redirect_uri",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "nonce",
  "code_challenge",
  "code_challenge_method",
  "dpop_jkt",
  "request",
  "request_uri",
  "id_token_hint",
  "claims",
  "client_secret",
  "client_assertion",
  ...STEP_UP_PARAMETERS,
];

/** What a setting of parameters violates. @param taken the names that idpauth uses itself */
export function reserved(
  setting: SettingName,
  given: readonly string[],
  taken: readonly string[],
): UnnamedFinding[] {
  const found = given.filter((name) => taken.includes(name.toLowerCase()));
  if (found.length === 0) return [];
  return [
    providerCheck(
      "E016",
      (names) =>
        `${names.label(setting)} contains ${found.map(quoted).join(", ")}, which idpauth uses itself.`,
    ),
  ];
}
