// Every state of every page, as the browser tests and the screenshots show it.

/**
 * @typedef {import("../../src/pages/landing-page.js").LandingModel} LandingModel
 * @typedef {import("../../src/pages/error-page.js").ErrorModel} ErrorModel
 * @typedef {import("../../src/pages/sessions-page.js").SessionsModel} SessionsModel
 * @typedef {import("../../src/pages/popup-page.js").PopupModel} PopupModel
 * @typedef {import("../../src/pages/chooser-page.js").ChooserModel} ChooserModel
 * @typedef {import("../../src/pages/organization-page.js").OrganizationModel} OrganizationModel
 * @typedef {import("../../src/pages/other-user-page.js").OtherUserModel} OtherUserModel
 * @typedef {import("../../src/pages/debug-page.js").DebugModel} DebugModel
 */

const publicPath = "/idpauth/";
const ada = { email: "ada@example.com", name: "Ada Lovelace", picture: null };
const long = "Wolfeschlegelsteinhausenbergerdorff".repeat(5);

/**
 * @param {string} pictures where `/picture.svg` loads and `/gone.png` does not
 * @returns {Record<string, LandingModel>}
 */
export function landingStates(pictures) {
  const withPicture = { ...ada, picture: `${pictures}/picture.svg` };
  return {
    "signed-out": { publicPath, state: { kind: "signed_out" } },
    "signed-in": { publicPath, state: { kind: "signed_in", user: withPicture } },
    "signed-in-no-picture": { publicPath, state: { kind: "signed_in", user: ada } },
    "signed-in-nameless": {
      publicPath,
      state: { kind: "signed_in", user: { email: null, name: null, picture: null } },
    },
    "signed-in-long": {
      publicPath,
      state: {
        kind: "signed_in",
        user: {
          email: `${long}@${long}.example`,
          name: `\u202e${long} ${long}`,
          picture: `${pictures}/gone.png`,
        },
      },
    },
    "signed-in-debug": { publicPath, state: { kind: "signed_in", user: ada }, debug: true },
    "ended-debug": {
      publicPath,
      state: {
        kind: "ended",
        reason: "max_age",
        setting: { name: "IDP_SESSION_MAX_AGE", value: "28800" },
        user: ada,
      },
      debug: true,
    },
    "ended-max-age": {
      publicPath,
      state: {
        kind: "ended",
        reason: "max_age",
        setting: { name: "IDP_SESSION_MAX_AGE", value: "28800" },
        user: withPicture,
      },
    },
    "ended-idle": {
      publicPath,
      state: {
        kind: "ended",
        reason: "idle",
        setting: { name: "IDP_SESSION_IDLE_TIMEOUT", value: "1800" },
        user: ada,
      },
    },
    "ended-auto-refresh-off": {
      publicPath,
      state: {
        kind: "ended",
        reason: "auto_refresh_off",
        setting: { name: "IDP_SESSION_AUTO_REFRESH", value: "off" },
        user: ada,
      },
    },
    "ended-no-refresh-token": {
      publicPath,
      state: { kind: "ended", reason: "no_refresh_token", user: ada },
    },
    "ended-session-expiry": {
      publicPath,
      state: { kind: "ended", reason: "session_expiry", user: ada },
    },
    "ended-at-provider": { publicPath, state: { kind: "ended", reason: "logged_out_at_provider" } },
    "ended-everywhere": { publicPath, state: { kind: "ended", reason: "ended_everywhere" } },
    "ended-too-many-sessions": {
      publicPath,
      state: { kind: "ended", reason: "too_many_sessions" },
    },
    "ended-refresh-rejected": {
      publicPath,
      state: { kind: "ended", reason: "refresh_rejected", user: ada },
    },
    "ended-long": {
      publicPath,
      state: {
        kind: "ended",
        reason: "refresh_rejected",
        user: { email: long, name: long, picture: null },
      },
    },
    "sign-in-error": { publicPath, state: { kind: "signed_out" }, signInError: "access_denied" },
    "sign-in-error-retry": {
      publicPath,
      state: { kind: "signed_out" },
      signInError: "access_denied",
      retryHref: `${publicPath}login/?scheme=PRESERVE_ORIGIN_QP&origin_url=%2Freports`,
    },
    "signed-in-sign-in-error": {
      publicPath,
      state: { kind: "signed_in", user: ada },
      signInError: "temporarily_unavailable",
    },
  };
}

const now = 1_795_348_800; // 22 Nov 2026 12:00 UTC
const here = {
  id: "here",
  signedInAt: now - 7_200,
  lastActive: now - 20,
  label: "Firefox on Linux",
  current: true,
};
const phone = {
  id: "phone",
  signedInAt: now - 90_000,
  lastActive: now - 3_700,
  label: "Safari on iPhone",
  current: false,
};

/** @type {Record<string, SessionsModel>} */
export const sessionsStates = {
  several: {
    publicPath,
    now,
    sessions: [
      here,
      phone,
      { ...phone, id: "old", signedInAt: now - 900_000, lastActive: now - 260_000, label: null },
    ],
  },
  two: { publicPath, now, sessions: [{ ...here, label: "Chrome on Linux" }, phone] },
  one: { publicPath, now, sessions: [here] },
  long: { publicPath, now, sessions: [{ ...phone, label: `\u202e${long} ${long}` }, here] },
  unknown: {
    publicPath,
    now,
    sessions: [{ id: "x", signedInAt: null, lastActive: 1e300, label: " ", current: false }],
  },
  provider: { publicPath, now, sessions: [here, phone], provider: `Customer account ${long}` },
  many: {
    publicPath,
    now,
    sessions: Array.from({ length: 250 }, (_, index) => ({ ...phone, id: `phone-${index}` })),
  },
  more: { publicPath, now, sessions: [here, phone], hasMore: true },
};

/** @param {string} key @param {string} name @param {string} [icon] */
const provider = (key, name, icon) => ({
  key,
  name,
  icon,
  href: `${publicPath}login/?provider=${key}&scheme=PRESERVE_ORIGIN_QP&origin_url=%2F%3Fa%26b`,
});

/** @type {Record<string, ChooserModel>} */
export const chooserStates = {
  two: {
    providers: [provider("staff", "Example staff"), provider("customers", "Customer account")],
  },
  icons: {
    providers: [
      provider("staff", "Example staff", "/icon.svg?v=2"),
      provider("customers", "Customer account"),
      provider("long", `Partner ${long}`, "/icon.svg"),
      provider("ar", "حساب العملاء", "/gone.png"),
    ],
  },
  many: {
    providers: Array.from({ length: 12 }, (_, index) => provider(`p${index}`, `Partner ${index}`)),
  },
  names: {
    providers: [
      provider("long", `\u202e${long}`),
      provider("ar", "حساب العملاء"),
      provider("zh", "客户账户"),
      provider("html", "<script>alert(1)</script>"),
    ],
  },
};

const kept = /** @type {const} */ ([
  ["scheme", "PRESERVE_ORIGIN_QP"],
  ["origin_url", '/reports?quarter=3&name=é"<x>'],
]);
const question = { publicPath, kept, providers: [] };

/** @type {Record<string, OrganizationModel>} */
export const organizationStates = {
  first: question,
  unknown: { ...question, email: "ada@unknown.example", isUnknown: true },
  "unknown-long": { ...question, email: `${long}@${long}.example`, isUnknown: true },
  providers: { ...question, providers: chooserStates["icons"]?.providers ?? [] },
  "unknown-provider": {
    ...question,
    email: '"><script>alert(1)</script>@x',
    isUnknown: true,
    providers: [provider("staff", "Example staff")],
  },
};

const popup = { loginHref: `${publicPath}login/`, homeHref: "/" };

/** @type {Record<string, PopupModel>} */
export const popupStates = {
  "signed-in": { ...popup, isSignedIn: true },
  "signed-out": { ...popup, isSignedIn: false },
  cancelled: { ...popup, isSignedIn: false, failure: "access_denied" },
  failed: { ...popup, isSignedIn: true, failure: "step_up_failed" },
  outage: { ...popup, isSignedIn: undefined, failure: "store_unavailable" },
};

const otherUser = {
  stayHref: "/reports",
  continueForm: { href: `${publicPath}login/`, fields: { login_hint: "grace@example.com" } },
};

/** @type {Record<string, OtherUserModel>} */
export const otherUserStates = {
  "signed-out": { ...otherUser, present: undefined, other: "grace@example.com" },
  usual: { ...otherUser, present: "ada@example.com", other: "grace@example.com" },
  long: { ...otherUser, present: `${long}@${long}.example`, other: `\u202e${long} ${long}` },
};

/** @type {Record<string, ErrorModel>} */
export const errorStates = {
  "login-link-invalid": { publicPath, code: "login_link_invalid" },
  "sign-in-refused": { publicPath, code: "sign_in_refused" },
  "invalid-parameter": {
    publicPath,
    code: "invalid_parameter",
    validOptions: {
      scheme: ["PRESERVE_ORIGIN_QP", "PRESERVE_ORIGIN_HP", "LANDING_PAGE", "DEFAULT"],
      response: ["redirect", "json"],
    },
  },
  "login-loop": {
    publicPath,
    code: "login_loop",
    detail: "The login was sent to BASE_URL and came back with another Host header.",
  },
  "provider-unavailable": { publicPath, code: "provider_unavailable", retryAfter: 5 },
  "not-renewed": {
    publicPath,
    code: "provider_unavailable",
    retryAfter: 5,
    isNotRenewed: true,
    action: { label: "action.signInAgain", href: `${publicPath}login/` },
  },
  "store-unavailable": { publicPath, code: "store_unavailable", retryAfter: 1 },
  "store-unavailable-stranger": {
    publicPath,
    code: "store_unavailable",
    retryAfter: 1,
    isStranger: true,
  },
  "step-up-failed": {
    publicPath,
    code: "step_up_failed",
    action: { label: "action.tryAgain", href: `${publicPath}login/?max_age=0&acr_values=mfa` },
  },
  "login-loop-debug": {
    publicPath,
    code: "login_loop",
    detail: "The login was sent to BASE_URL and came back with another Host header.",
    debug: true,
  },
  "session-missing": { publicPath, code: "session_missing" },
  "not-found": { publicPath, code: "not_found" },
  "method-not-allowed": { publicPath, code: "method_not_allowed" },
  "prefetch-refused": { publicPath, code: "prefetch_refused" },
};

const settings = [
  { name: "IDP_CLIENT_ID", value: "example-app", isDefault: false },
  { name: "IDP_CLIENT_SECRET", value: "present", isDefault: false },
  { name: "IDP_SESSION_MAX_AGE", value: 28_800, isDefault: false },
  { name: "IDP_SESSION_IDLE_TIMEOUT", value: null, isDefault: true },
  { name: "SCOPE", value: ["openid", "email", "profile"], isDefault: true },
];

/** @type {Record<string, DebugModel>} */
export const debugStates = {
  "signed-in": {
    session: {
      credentials: { token: "present", refresh_token: "absent", token_uri: `https://${long}/` },
      id_info: ada,
      oauth_state: "absent",
      idp_login_at: now - 7_200,
      idp_state: { v: 1, logins: 0, access_token_expires_at: now + 1_800 },
    },
    policy: { verdict: { kind: "valid" }, remaining: { idToken: 1_800, idle: null }, now },
    settings,
    checks: [
      {
        code: "W001",
        severity: "warning",
        message: "SECRET_KEY is shorter than 32 characters.",
        remedy: "Set a longer one.",
      },
    ],
  },
  "signed-out": {
    session: null,
    policy: { verdict: { kind: "ended", reason: "no_credentials" }, remaining: null, now },
    settings,
    checks: [],
  },
};

/** Every state, by the name of its page. @param {string} origin where pictures are */
export const allStates = (origin) => ({
  landing: landingStates(origin),
  error: errorStates,
  sessions: sessionsStates,
  popup: popupStates,
  "other-user": otherUserStates,
  chooser: chooserStates,
  organization: organizationStates,
  debug: debugStates,
});
