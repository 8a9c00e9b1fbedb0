// The events, and the fields of events and log lines, for docs/reference/events.md. The types of
// src/events require a row for each event and each field, so `npm run types` finds a missing one.

/** @typedef {import("../src/events/events.js").Events} Events */
/** @typedef {import("../src/events/log.js").LogDetails} LogDetails */
/** @typedef {import("../src/events/log.js").LogEntry} LogEntry */

/** @typedef {{ [Name in keyof Events]: keyof Events[Name] }[keyof Events]} EventField */

/**
 * Whether an event contains a field. What the type requires is `always` there.
 *
 * @typedef {"always" | "if known" | "never"} Presence
 */

/**
 * @template {keyof Events} Name
 * @typedef {object} EventRow
 * @property {string} when
 * @property {{ readonly [Field in keyof Events[Name]]-?: undefined extends Events[Name][Field] ? Presence : "always" }} fields
 */

/**
 * @typedef {object} FieldRow
 * @property {string} what
 * @property {"string" | "number" | "boolean"} type
 * @property {string} values which values there are
 * @property {"yes" | "no" | "with a limit"} label whether a metrics label may contain it, because
 *   it has few values
 * @property {"yes" | "no" | "with `subject`"} personal whether it is personal data
 */

/** @typedef {FieldRow & { readonly lines: string }} LineFieldRow `lines`: which lines have it */

/** @type {{ readonly [Name in keyof Events]: EventRow<Name> }} */
export const EVENT_TABLE = {
  login: {
    when: "A user signed in: the callback completed.",
    fields: {
      time: "always",
      provider: "if known",
      issuer: "always",
      subject: "always",
      duration: "always",
    },
  },
  refresh: {
    when: "Tokens were refreshed and verified.",
    fields: {
      time: "always",
      provider: "if known",
      issuer: "always",
      subject: "always",
      duration: "if known",
      api: "if known",
    },
  },
  logout: {
    when: "The user or the application ended a session. idpauth emits the event after it has finished revoking the tokens.",
    fields: {
      time: "always",
      provider: "if known",
      issuer: "if known",
      subject: "if known",
      duration: "if known",
      revoked: "always",
    },
  },
  blocked: {
    when: "A guard blocked a request, or [`auth.csrf`](../how-to/csrf.md) rejected one (`cross_origin`).",
    fields: {
      time: "always",
      provider: "if known",
      issuer: "if known",
      subject: "if known",
      duration: "never",
      reason: "always",
    },
  },
  ended: {
    when: "A session limit, the provider, or a sign-in that exceeded `IDP_SESSIONS_PER_USER` has ended a session. idpauth emits one event for each session and reason, except that with `provider_removed`, each process emits it.",
    fields: {
      time: "always",
      provider: "if known",
      issuer: "if known",
      subject: "if known",
      duration: "never",
      reason: "always",
    },
  },
  failure: {
    when: "A login, callback, refresh, logout or session check failed, the provider refused [an API's token](apis.md#errors), or [the proxy](../how-to/proxy.md) responded with 500 or above.",
    fields: {
      time: "always",
      provider: "if known",
      issuer: "if known",
      subject: "if known",
      duration: "if known",
      during: "always",
      api: "if known",
      kind: "always",
      reason: "always",
      cause: "if known",
    },
  },
  outage: {
    when: 'A request to the provider or to the store failed without being explicitly rejected. If several users wait for the same provider request, idpauth emits one event. With `session: "host"`, idpauth also emits this event if the session middleware didn\'t create a session for a request.',
    fields: {
      time: "always",
      provider: "if known",
      issuer: "if known",
      subject: "never",
      duration: "if known",
      side: "always",
      endpoint: "if known",
      reason: "always",
    },
  },
};

const REASONS =
  "[reason codes](errors.md#reason-codes), [error codes](errors.md#errors) and other fixed words. In `failure` and `outage`, also error codes from the provider (at most 64 lowercase letters and underscores) and from the store's driver (at most 40 characters)";

/** @type {Readonly<Record<EventField, FieldRow>>} */
export const EVENT_FIELDS = {
  time: {
    what: "When the event happened, in milliseconds since the epoch",
    type: "number",
    values: "any",
    label: "no",
    personal: "with `subject`",
  },
  provider: {
    what: "The provider's name in your settings, if you use several providers",
    type: "string",
    values: "the names in your settings",
    label: "yes",
    personal: "no",
  },
  issuer: {
    what: "The provider's issuer",
    type: "string",
    values: "one for each provider, or for each tenant of a multi-tenant provider",
    label: "with a limit",
    personal: "with `subject`",
  },
  subject: {
    what: "The user's `sub`, which together with `issuer` identifies the user",
    type: "string",
    values: "one for each user",
    label: "no",
    personal: "yes",
  },
  duration: {
    what: "In milliseconds, how long the provider took for a login, a refresh or a revocation. For an outage, the time until it was detected",
    type: "number",
    values: "any; use it in a histogram",
    label: "no",
    personal: "no",
  },
  api: {
    what: "The API that the token is for, or that failed; absent for the session's own tokens",
    type: "string",
    values: "the names in the option `apis`",
    label: "yes",
    personal: "no",
  },
  revoked: {
    what: "Whether the provider revoked the newest token; `null` if there was none to revoke, or revocation is off",
    type: "boolean",
    values: "`true`, `false`, `null`",
    label: "yes",
    personal: "no",
  },
  reason: {
    what: "Why",
    type: "string",
    values: REASONS,
    label: "with a limit",
    personal: "no",
  },
  during: {
    what: "What failed",
    type: "string",
    values:
      "`login`, `callback`, `refresh`, `api_token`, `api`, `logout`, `backchannel_logout`, `frontchannel_logout`, `session` (reading a stored session)",
    label: "yes",
    personal: "no",
  },
  kind: {
    what: "Whether a later attempt may succeed (`outage`) or not (`refusal`)",
    type: "string",
    values: "`outage`, `refusal`",
    label: "yes",
    personal: "no",
  },
  cause: {
    what: "The error code of the connection to the API, such as `ECONNREFUSED`. If `reason` is `certificate`, the error code of the provider's certificate, such as `CERT_HAS_EXPIRED`",
    type: "string",
    values: "codes of Node.js or undici, at most 40 characters",
    label: "with a limit",
    personal: "no",
  },
  side: {
    what: "What didn't respond; `session` is the framework's session with `session: \"host\"`",
    type: "string",
    values: "`provider`, `store`, `session`",
    label: "yes",
    personal: "no",
  },
  endpoint: {
    what: "The provider's endpoint that didn't respond",
    type: "string",
    values: "`discovery`, `jwks`, `token`, `userinfo`, `revocation`, `par`",
    label: "yes",
    personal: "no",
  },
};

/** @type {Readonly<Record<Exclude<keyof LogEntry, "details">, LineFieldRow>>} */
export const LINE_FIELDS = {
  level: {
    what: "How severe it is",
    type: "string",
    lines: "all",
    values: "`info`, `warn`, `error`",
    label: "yes",
    personal: "no",
  },
  code: {
    what: "What the line is about; never renamed",
    type: "string",
    lines: "all",
    values: "the codes in [Errors](errors.md)",
    label: "yes",
    personal: "no",
  },
  message: {
    what: "English text, whose wording can change. It can contain what `details` contains, settings, and a `Host` header",
    type: "string",
    lines: "all",
    values: "any",
    label: "no",
    personal: "no",
  },
};

/** @type {Readonly<Record<keyof LogDetails, LineFieldRow>>} */
export const DETAIL_FIELDS = {
  provider: {
    ...EVENT_FIELDS.provider,
    lines: "all that are about one provider, if you use several",
  },
  api: {
    ...EVENT_FIELDS.api,
    lines: "`api_…`, `function_threw`, and errors of an API's token that you didn't catch",
  },
  endpoint: {
    what: "The provider's endpoint that the line is about",
    type: "string",
    lines: "`provider_unavailable`, `provider_misconfigured`",
    values: "those of `outage`, and `authorization`",
    label: "yes",
    personal: "no",
  },
  reason: {
    ...EVENT_FIELDS.reason,
    lines:
      "`blocked`, `…_failed`, `refresh_rejected`, `logout_not_at_provider`, `language_not_loaded`, `…_unavailable`, `provider_misconfigured`, and errors that you didn't catch",
    values: "those of events",
  },
  cause: { ...EVENT_FIELDS.cause, lines: "`…_failed`" },
  status: {
    what: "The HTTP status of the provider's response",
    type: "number",
    lines: "`provider_unavailable`, `provider_misconfigured`",
    values: "100 to 599",
    label: "yes",
    personal: "no",
  },
  error: {
    what: "The provider's error code",
    type: "string",
    lines: "`provider_unavailable`",
    values: "at most 64 lowercase letters and underscores",
    label: "with a limit",
    personal: "no",
  },
  function: {
    what: "Your function that threw, such as `onSignIn`",
    type: "string",
    lines: "`function_threw`",
    values: "the names of options and events",
    label: "yes",
    personal: "no",
  },
  kind: {
    what: "The `name` of what your function threw, or `timeout`, `not_an_error`",
    type: "string",
    lines: "`function_threw`",
    values: "your errors' names",
    label: "with a limit",
    personal: "no",
  },
  place: {
    what: "Where in your code: the first frame of the stack, at most 200 characters",
    type: "string",
    lines: "`function_threw`",
    values: "your files' paths",
    label: "no",
    personal: "no",
  },
  page: {
    what: "The page for which `pages.render` failed",
    type: "string",
    lines: "`function_threw`",
    values: "the pages' names",
    label: "yes",
    personal: "no",
  },
  language: {
    what: "The language that didn't load",
    type: "string",
    lines: "`language_not_loaded`",
    values: "the tags of the pages' languages",
    label: "yes",
    personal: "no",
  },
  paths: {
    what: "The names of the claims that the schema didn't accept, without their values",
    type: "string",
    lines: "`claims_rejected`",
    values: "any names; at most 10, with at most 100 characters each",
    label: "no",
    personal: "no",
  },
  count: {
    what: "How many connections idpauth closed while they were in use",
    type: "number",
    lines: "`closed_late`",
    values: "any",
    label: "no",
    personal: "no",
  },
  suppressed: {
    what: "How many lines of this kind the default log left out",
    type: "number",
    lines: "all in the default log",
    values: "any",
    label: "no",
    personal: "no",
  },
  providers: {
    what: "The issuers. If you use several providers, also their names",
    type: "string",
    lines: "`started`",
    values: "your setting",
    label: "yes",
    personal: "no",
  },
  store: {
    what: "The store's name",
    type: "string",
    lines: "`started`",
    values: "your setting",
    label: "yes",
    personal: "no",
  },
  sessionMaxAge: {
    what: "The maximum age of a session in seconds, or `none`",
    type: "number",
    lines: "`started`",
    values: "your setting",
    label: "yes",
    personal: "no",
  },
  sessionIdleTimeout: {
    what: "The idle timeout in seconds, or `none`",
    type: "number",
    lines: "`started`",
    values: "your setting",
    label: "yes",
    personal: "no",
  },
  sessionTtl: {
    what: "For how many seconds the store keeps an unused session",
    type: "number",
    lines: "`started`",
    values: "your setting",
    label: "yes",
    personal: "no",
  },
  path: {
    what: "The path of the endpoints",
    type: "string",
    lines: "`started`",
    values: "your setting",
    label: "yes",
    personal: "no",
  },
  debug: {
    what: "Whether debug mode is on",
    type: "boolean",
    lines: "`started`",
    values: "your setting",
    label: "yes",
    personal: "no",
  },
};
