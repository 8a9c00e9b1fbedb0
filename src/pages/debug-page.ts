import type { Finding } from "../errors.js";
import type { Reply } from "../http/reply.js";
import { isObject } from "../record/json.js";
import { html, type Interpolated, type Markup } from "./html.js";
import { layout } from "./layout.js";
import { en } from "./locales/en.js";
import { page } from "./page-reply.js";
import { createTexts, type Texts } from "./texts.js";

/** What the debug endpoint knows. No part contains a secret. */
export interface DebugModel {
  readonly session: object | null;
  readonly policy: object;
  readonly settings: readonly DebugSetting[];
  readonly checks: readonly Finding[];
}

export interface DebugSetting {
  /** The name in the environment. */
  readonly name: string;
  readonly value: unknown;
  readonly isDefault: boolean;
}

/** Names of values that are times, in epoch seconds. */
const TIMES: ReadonlySet<string> = new Set([
  "now",
  "idp_login_at",
  "idp_last_active",
  "idp_state.access_token_expires_at",
  "IDP_SESSIONS_NOT_BEFORE",
]);

/**
 * Returns the debug page. It is for developers, so it is in English, and an application can't
 * replace it. Pure.
 *
 * @param publicPath begins and ends with a slash
 */
export function debugPage(model: DebugModel, publicPath: string): Reply {
  return page(200, layout({ publicPath, title: "Debug", main: content(model) }));
}

function content({ session, policy, settings, checks }: DebugModel): Markup {
  const texts = createTexts("en", en);
  const list = (object: object) => values(flattened(object), texts);
  const settingsThat = (areDefaults: boolean) =>
    values(
      settings
        .filter(({ isDefault }) => isDefault === areDefaults)
        .map(({ name, value }) => [name, value] as const),
      texts,
    );
  return html`<section class="card debug">
    <h1>Debug</h1>
    <p>
      What idpauth knows about this browser's session, and its settings. Of each token and secret,
      the page says only whether it is present. A request with
      <code>Accept: application/json</code> gets the same as JSON.
    </p>
    <h2>Decision about the session</h2>
    ${list(policy)}
    <h2>Session</h2>
    ${session === null ? html`<p>This browser has no session.</p>` : list(session)}
    <h2>Warnings of the startup checks</h2>
    ${
      checks.length === 0
        ? html`<p>None.</p>`
        : html`<dl class="values">
            ${checks.map(({ code, message, remedy }) => row(code, html`<p>${message}</p><p>${remedy}</p>`))}
          </dl>`
    }
    <h2>Settings that differ from their defaults</h2>
    ${settingsThat(false)}
    <details>
      <summary>Settings with their defaults</summary>
      ${settingsThat(true)}
    </details>
  </section>`;
}

function values(entries: readonly (readonly [string, unknown])[], texts: Texts): Markup {
  return html`<dl class="values">
    ${entries.map(([name, value]) => row(name, shown(name, value, texts)))}
  </dl>`;
}

const row = (name: string, value: Markup) =>
  html`<div>
    <dt><code>${name}</code></dt>
    <dd>${value}</dd>
  </div>`;

function shown(name: string, value: unknown, texts: Texts): Markup {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return html`<code>${text}</code>${explained(name, value, texts)}`;
}

/** A time and a duration in words, next to their numbers. */
function explained(name: string, value: unknown, texts: Texts): Interpolated {
  if (typeof value !== "number") return undefined;
  if (TIMES.has(name)) return ` (${texts.time(value)})`;
  return name.startsWith("remaining.") ? ` (${texts.duration(value)})` : undefined;
}

/** The values inside an object, with their paths: `idp_state.issuer`. */
function flattened(object: object, prefix = ""): (readonly [string, unknown])[] {
  return Object.entries(object).flatMap(([name, value]: [string, unknown]) =>
    isObject(value)
      ? flattened(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, value] as const],
  );
}
