import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { variableOf } from "../../src/config/provider-keys.js";
import { SETTINGS, type SettingName, type SettingOptions } from "../../src/config/read-settings.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { PROVIDER, REDIRECT_URI, stopAfterRefusals } from "./live-situations.mjs";
import { runLive, type LiveReport } from "./live-run.js";

// How `idpauth check --live` names a setting: as the application sets it.

type Environment = Readonly<Record<string, string>>;

type Given = Readonly<SettingOptions>;

interface Run {
  readonly report: LiveReport;
  /** The variables that are set. */
  readonly env: Environment;
}

let provider: TestProvider;
beforeEach(async () => {
  const redirectUris = [REDIRECT_URI, `${REDIRECT_URI}/staff`];
  provider = await startTestProvider({ ...PROVIDER, redirectUris });
});
afterEach(() => stopAfterRefusals(provider));

/** What an application must set. */
const required = (): Given => ({
  secretKey: "an-example-of-a-key-with-32-bytes!",
  issuer: provider.issuer,
  clientId: PROVIDER.clientId,
  clientSecret: PROVIDER.clientSecret,
});

/** The settings that a message of the check may name. */
const all = (): Given => ({
  ...required(),
  baseUrl: "https://app.example",
  scope: ["openid", "email", "offline_access"],
  loginPrompt: "login",
  sessionAutoRefresh: true,
  tokenRevokeOnLogout: true,
  backchannelLogout: true,
  frontchannelLogout: true,
  logoutAtProvider: true,
  tokenEndpointAuthMethod: "client_secret_post",
  userinfo: "always",
  clockTolerance: 5,
  httpTimeout: 5,
});

function inVariables(settings: Given, key?: string): Environment {
  const variables = Object.entries(settings).map(([name, value]) => {
    const { env, per } = SETTINGS[name as SettingName];
    const text = Array.isArray(value) ? value.join(" ") : `${value as string | number | boolean}`;
    return [key === undefined || per === undefined ? env : variableOf(key, env), text];
  });
  return Object.fromEntries(variables) as Environment;
}

const SOURCES = {
  "options in code": (changes: Given) => ofModule({ ...all(), ...changes }),
  "options of several providers in code": (changes: Given) => {
    const given = Object.entries({ ...all(), ...changes });
    const isOwn = ([name]: [string, unknown]) => SETTINGS[name as SettingName].per !== undefined;
    return ofModule({
      ...Object.fromEntries(given.filter((one) => !isOwn(one))),
      providers: { staff: Object.fromEntries(given.filter(isOwn)) },
    });
  },
  "variables with a provider's key": (changes: Given) =>
    ofVariables({ ...inVariables({ ...all(), ...changes }, "staff"), IDP_PROVIDERS: "staff" }),
  "few variables": (changes: Given) => ofVariables(inVariables({ ...required(), ...changes })),
};

async function ofModule(options: Parameters<typeof idpAuth>[0]): Promise<Run> {
  const auth = idpAuth({ ...options, env: {}, log: false });
  const importModule = () => Promise.resolve({ auth });
  return {
    report: await runLive({}, { args: ["--module=auth.mjs"], importModule, ahead }),
    env: {},
  };
}

async function ofVariables(env: Environment): Promise<Run> {
  return { report: await runLive(env, { ahead }), env };
}

/** Milliseconds by which this machine's clock is ahead. */
let ahead = 0;
afterEach(() => {
  ahead = 0;
});

/** The variables of all settings, with any key. */
const VARIABLES = new RegExp(
  `\\b(?:IDP_[A-Z_]+|${Object.values(SETTINGS)
    .map(({ env }) => env)
    .join("|")})\\b`,
  "g",
);

/**
 * Returns the sentences that name a variable which isn't set, and don't tell to set it. A startup
 * check that doesn't know where a setting comes from uses both names: `SCOPE (option scope)`.
 */
function claims({ report, env }: Run): string[] {
  const texts = report.findings.flatMap(({ group, message, remedy }) =>
    [message, remedy].map((text) =>
      group === "live" ? text : text.replaceAll(/\b[A-Z_]+ \(option [\w.-]+\)/g, "the setting"),
    ),
  );
  return [...texts, ...report.notSeen]
    .flatMap((text) => text.split(/(?<=\.) (?=[A-Z])/))
    .map((text) => text.replaceAll(/\b(?:set|add|name the endpoint in)\b.*/gi, ""))
    .filter((text) => text.match(VARIABLES)?.some((name) => env[name] === undefined) === true);
}

function refuses(status: number, error: string): Given {
  provider.fault("token", {
    kind: "status",
    status,
    body: { error },
    headers: { "Content-Type": "application/json" },
    when: ({ params }) => params.get("client_id") === PROVIDER.clientId,
  });
  return {};
}

/** What happens, and a code that the check then finds. */
const SITUATIONS: readonly (readonly [string, string, () => Given | undefined])[] = [
  [
    "a provider that advertises nothing optional",
    "W103",
    () => {
      provider.discoveryDocument = (document) => ({
        ...document,
        revocation_endpoint: undefined,
        userinfo_endpoint: undefined,
        end_session_endpoint: undefined,
        code_challenge_methods_supported: undefined,
        scopes_supported: ["openid"],
        grant_types_supported: ["authorization_code"],
        backchannel_logout_supported: undefined,
        frontchannel_logout_supported: undefined,
        token_endpoint_auth_methods_supported: ["private_key_jwt"],
      });
      return refuses(401, "invalid_client");
    },
  ],
  ["a client that may not refresh", "W103", () => refuses(400, "unauthorized_client")],
  ["a refused client", "E109", () => ({ clientSecret: "another secret" })],
  ["an unregistered redirect URI", "W107", () => ({ baseUrl: "https://other.example" })],
  [
    "a refused login",
    "W110",
    () => {
      provider.authorizationResponse = (params) => params.set("error", "invalid_request");
      return { baseUrl: "https://app.example" };
    },
  ],
  [
    "another issuer",
    "E104",
    () => {
      provider.discoveryDocument = (document) => ({ ...document, issuer: "https://login.example" });
      return {};
    },
  ],
  [
    "pushed requests that the provider requires and doesn't accept",
    "E115",
    () => {
      provider.discoveryDocument = (document) => ({
        ...document,
        require_pushed_authorization_requests: true,
        pushed_authorization_request_endpoint: undefined,
      });
      return {};
    },
  ],
  [
    "a slow provider",
    "E101",
    () => {
      provider.fault("discovery", { kind: "hang" });
      return { httpTimeout: 0.3 };
    },
  ],
  [
    "a clock that differs",
    "W106",
    () => {
      ahead = 30_000;
      return {};
    },
  ],
  ["an issuer that can't be used", "E008", () => ({ issuer: "http://login.example" })],
];

it.each([
  ["options in code", "the option `clientId`", "The option `sessionAutoRefresh` is on"],
  [
    "options of several providers in code",
    "the option `providers.staff.clientId`",
    "Provider staff: the option `sessionAutoRefresh` is on",
  ],
  [
    "variables with a provider's key",
    "IDP_PROVIDER_STAFF_CLIENT_ID",
    "Provider staff: IDP_SESSION_AUTO_REFRESH is on",
  ],
  ["few variables", "IDP_CLIENT_ID", "The setting `sessionAutoRefresh` is on"],
] as const)("with %s, a message names %s", async (source, clientId, refresh) => {
  provider.discoveryDocument = (document) => ({
    ...document,
    grant_types_supported: ["authorization_code"],
  });
  const { report } = await SOURCES[source]({ clientSecret: "another secret" });
  const of = (code: string) => report.findings.find((finding) => finding.code === code)?.message;
  expect(of("E109")).toContain(`The token endpoint refuses ${clientId} with `);
  expect(of("W103")).toMatch(new RegExp(`^${refresh}`));
});

describe.each(Object.entries(SOURCES))("idpauth check --live with %s", (_source, run) => {
  it.each(SITUATIONS)(
    "%s: names no variable that isn't set, unless to set it",
    async (...given) => {
      const [, code, prepare] = given;
      const done = await run(prepare() ?? {});
      expect(done.report.codes).toContain(code);
      expect(claims(done)).toEqual([]);
    },
  );
});
