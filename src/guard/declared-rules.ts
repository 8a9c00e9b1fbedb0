import type { Api } from "../config/api-options.js";
import { unknownProvider } from "../config/check-several-providers.js";
import { check, named, providerCheck } from "../config/findings.js";
import { profileOf } from "../config/provider-profiles.js";
import type { Settings } from "../config/read-settings.js";
import { settingNamesOf } from "../config/setting-names.js";
import type { Finding } from "../errors.js";
import {
  needsAuthTime,
  providersOf,
  type GuardRule,
  type RouteRule,
} from "../record/guard-requirements.js";

/** A provider that users can sign in at. Without a key if it is the only one. */
export interface KnownProvider {
  readonly key: string | undefined;
  readonly settings: Settings;
}

/** What the routes, the proxies and the paths of APIs require, for the startup checks. */
export class DeclaredRules {
  /** The providers that rules name. */
  readonly #named = new Set<string>();
  /** The providers whose users need `auth_time`. Undefined: those of all providers. */
  readonly #withAuthTime = new Set<string | undefined>();

  declare({ provider, ...others }: RouteRule): void {
    const rule: GuardRule = {
      ...others,
      // Only a request tells what a function returns.
      ...(provider !== undefined && typeof provider !== "function" && { provider }),
    };
    const keys = providersOf([rule]);
    for (const key of keys ?? []) this.#named.add(key);
    if (needsAuthTime(rule)) for (const key of keys ?? [undefined]) this.#withAuthTime.add(key);
  }

  /** Whether a route for users of this provider needs `auth_time`. */
  needsAuthTime(provider: string | undefined): boolean {
    return this.#withAuthTime.has(undefined) || this.#withAuthTime.has(provider);
  }

  /**
   * Nobody could pass the guard of a provider that does not exist. At a provider without `max_age`,
   * nobody might pass a route with `maxAge`.
   *
   * @param hasSource whether further providers exist, whose keys aren't known
   */
  findings(
    providers: readonly KnownProvider[],
    apis: ReadonlyMap<string, Api>,
    hasSource: boolean,
  ): Finding[] {
    for (const { rules } of apis.values()) for (const rule of rules) this.declare(rule);
    const keys = providers.flatMap(({ key }) => key ?? []);
    const unknown = hasSource ? [] : [...this.#named].filter((key) => !keys.includes(key));
    const withoutMaxAge = providers.filter(
      ({ key, settings }) => !profileOf(settings.issuer).stepUp.maxAge && this.needsAuthTime(key),
    );
    return [
      ...unknown.map((key) => check("E027", unknownProvider(key, keys))),
      ...(this.#withAuthTime.size === 0
        ? []
        : withoutMaxAge.map(({ key }) => named(providerCheck("W016"), settingNamesOf(key)))),
    ];
  }
}
