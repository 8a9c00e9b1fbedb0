// What several providers violate together.
import type { Finding } from "../errors.js";
import { thumbprintInput } from "../keys/client-keys.js";
import { quoted } from "./describe-value.js";
import { check } from "./findings.js";
import { SETTING_NAMES } from "./setting-names.js";
import {
  PROVIDER_SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type Values,
} from "./setting-table.js";

/**
 * What several providers violate together.
 *
 * @param common what was read without a provider's key
 * @param isOpen whether there may be further providers: from a source, or with refused keys
 */
export function severalFindings(
  common: { readonly values: Values; readonly unset: ReadonlySet<SettingName> },
  providers: readonly { readonly key: string; readonly values: Values }[],
  { isOpen }: { readonly isOpen: boolean },
): Finding[] {
  const findings: Finding[] = [];
  const { defaultProvider } = common.values;
  const keys = providers.map(({ key }) => key);
  if (!isOpen && typeof defaultProvider === "string" && !keys.includes(defaultProvider))
    findings.push(check("E027", unknownProvider(defaultProvider, keys)));
  const ignored = PROVIDER_SETTING_NAMES.filter(
    (name) => SETTINGS[name].per === "own" && !common.unset.has(name),
  ).map(SETTING_NAMES.label);
  if (ignored.length > 0)
    findings.push(
      check(
        "W021",
        `${ignored.join(", ")}: without a provider's key, this has no effect.`,
        // All providers come from a source.
        keys.length === 0 ? "Remove it." : undefined,
      ),
    );
  providers.forEach(({ key, values: { issuer, clientId } }, index) => {
    const twin = providers
      .slice(0, index)
      .find(({ values }) => values.issuer === issuer && values.clientId === clientId);
    if (issuer !== undefined && clientId !== undefined && twin !== undefined)
      findings.push(
        check(
          "E028",
          `The providers ${twin.key} and ${key} have the same issuer and the same client ID.`,
        ),
      );
  });
  return findings;
}

/** The cause of E027. */
export function unknownProvider(key: string, keys: readonly string[]): string {
  const known =
    keys.length === 0
      ? "The application has one provider, without a key"
      : `The providers are ${keys.join(", ")}`;
  return `There is no provider ${quoted(key)}. ${known}.`;
}

/** Private keys that several providers share. */
export function sharedKeyFindings(
  providers: readonly { readonly key: string | undefined; readonly values: Values }[],
): Finding[] {
  const keysOf = ({ privateKey }: Values) =>
    (privateKey ?? []).flatMap(({ publicJwk }) => (publicJwk ? thumbprintInput(publicJwk) : []));
  return providers.flatMap(({ key, values }, index) => {
    const keys = keysOf(values);
    const twin = providers
      .slice(0, index)
      .find((other) => keysOf(other.values).some((one) => keys.includes(one)));
    return twin === undefined
      ? []
      : [
          check(
            "E030",
            `The providers ${String(twin.key)} and ${String(key)} have the same private key.`,
          ),
        ];
  });
}
