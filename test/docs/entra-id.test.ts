import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { decodeJwt } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { IdpAuthOptions } from "../../src/index.js";
import * as kit from "../../src/testing/index.js";

// docs/snippets/entra-id/ with stand-ins of the APIs. The responses of Microsoft Graph have the
// form of https://learn.microsoft.com/en-us/graph/api/user-list-transitivememberof.

const given = vi.hoisted((): { options: IdpAuthOptions; apis: string } => ({
  options: {},
  apis: "",
}));

vi.mock("../../src/adapters/express/express.js", async (original) => {
  const entry = await original<{ idpAuth: (options: IdpAuthOptions) => unknown }>();
  const idpAuth = ({ apis = {}, ...options }: IdpAuthOptions) => {
    const rows = Object.entries(apis).map(([name, api]) => {
      const { pathname } = new URL(api?.url ?? "");
      return [name, { ...api, url: given.apis + pathname }];
    });
    const own = {
      ...options,
      apis: Object.fromEntries(rows) as NonNullable<IdpAuthOptions["apis"]>,
    };
    return entry.idpAuth({ ...given.options, ...own });
  };
  return { ...entry, idpAuth };
});

const SNIPPETS = path.resolve(import.meta.dirname, "../../docs/snippets/entra-id");
const STAFF = "0760b6cf-170e-4a14-91b3-4b78e0739963";
const OTHER = "c9103f26-f3cf-4004-a611-2a14e81b8f79";
const FIRST = "/v1.0/me/transitiveMemberOf?$select=id&$top=999";
const GRAPH = "https://graph.microsoft.com";
const OVERAGE = {
  _claim_names: { groups: "src1" },
  _claim_sources: { src1: { endpoint: "https://graph.windows.net/x/users/y/getMemberObjects" } },
};
const HOUR = 3_600_000;

const group = (id: string) => ({ "@odata.type": "#microsoft.graph.group", id });

/** What Graph sends for one request. */
interface GraphReply {
  readonly status?: number;
  readonly body: unknown;
}

let provider: kit.TestProvider;
let server: Server;
let user: kit.TestBrowser;
let replies: GraphReply[];
let asked: { readonly target: string; readonly token: string }[];
let respond: (response: ServerResponse) => void;
let runs = 0;

beforeEach(async () => {
  replies = [];
  asked = [];
  respond = (response) => {
    const { status = 200, body } = replies.shift() ?? { status: 500, body: "no reply is left" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "Content-Type": "application/json" }).end(text);
  };
  server = createServer(({ url = "", headers: { authorization = "" } }, response) => {
    asked.push({ target: url, token: authorization.replace("Bearer ", "") });
    respond(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  given.apis = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  provider = await kit.startTestProvider({ person: { sub: "ada", ...OVERAGE } });
  given.options = {
    env: provider.env,
    clock: provider.clock,
    log: false,
    clientData: ({ data }) => data,
  };
});

async function open(file: string): Promise<void> {
  const { app } = (await import(`${SNIPPETS}/${file}?run=${++runs}`)) as {
    app: kit.TestedApplication;
  };
  user = await kit.browser(app);
}

afterEach(async () => {
  await user.close();
  server.closeAllConnections();
  server.close();
  await provider.stop();
});

async function signIn(person: kit.PersonClaims = OVERAGE): Promise<void> {
  provider.person = { sub: "ada", ...person };
  await user.follow("/idpauth/login/");
}
const statusOf = async () => (await user.get("/reports")).status;
const dataOf = async () =>
  ((await user.get("/idpauth/session?details=true")).json() as { data: unknown }).data;

describe("docs/snippets/entra-id/groups.ts", () => {
  beforeEach(() => open("groups.ts"));

  it("uses the claim if the ID token has it, without a request to Graph", async () => {
    await signIn({ groups: [OTHER, STAFF] });
    expect(await statusOf()).toBe(200);
    await signIn({ groups: [OTHER] });
    expect(await statusOf()).toBe(403);
    await signIn({});
    expect([await statusOf(), asked]).toEqual([403, []]);
  });

  it.each([OVERAGE, { hasgroups: true }])(
    "asks Graph once if the ID token has %o instead, and stores only the groups that it knows",
    async (claims) => {
      await signIn(claims);
      replies = [{ body: { value: [group(OTHER), group(STAFF)] } }];
      expect([await statusOf(), await statusOf()]).toEqual([200, 200]);
      expect(asked).toEqual([{ target: FIRST, token: expect.any(String) as string }]);
      const refresh = provider.requestsTo("token").at(-1)?.params;
      expect([refresh?.get("grant_type"), refresh?.get("scope")]).toEqual([
        "refresh_token",
        "https://graph.microsoft.com/User.Read",
      ]);
      expect(asked[0]?.token).toBe(
        provider.issued.findLast(({ kind }) => kind === "access_token")?.value,
      );
      expect(await dataOf()).toEqual({ groups: [STAFF] });
    },
  );

  it("follows the links to further pages, also after an empty one", async () => {
    await signIn();
    const next = "/v1.0/me/transitiveMemberOf?$select=id&$top=999&$skiptoken=RFNwdAIA%27..'";
    replies = [
      { body: { value: [group(OTHER)], "@odata.nextLink": `${GRAPH}${next}1` } },
      { body: { value: [], "@odata.nextLink": `${GRAPH}${next}2` } },
      { body: { value: [group(STAFF)] } },
    ];
    expect(await statusOf()).toBe(200);
    const sent = next.replace("'", "%27");
    expect(asked.map(({ target }) => target)).toEqual([FIRST, `${sent}1`, `${sent}2`]);
  });

  it("asks again after a refresh and after a sign-in", async () => {
    await signIn();
    replies = [
      { body: { value: [group(STAFF)] } },
      { body: { value: [group(OTHER)] } },
      { body: { value: [group(STAFF)] } },
    ];
    expect(await statusOf()).toBe(200);
    provider.clock.advance(HOUR + 1000);
    expect([await statusOf(), await statusOf()]).toEqual([403, 403]);
    await signIn();
    expect([await statusOf(), asked.length]).toEqual([200, 3]);
  });

  it.each<[string, GraphReply]>([
    ["is too busy", { status: 429, body: { error: {} } }],
    ["is down", { status: 503, body: "" }],
    ["refuses the request", { status: 403, body: { error: {} } }],
    ["sends no JSON", { body: "<!doctype html>" }],
  ])("responds with 503 while Graph %s, and keeps the session", async (_what, reply) => {
    await signIn();
    replies = [reply, reply];
    const response = await user.get("/reports");
    expect([response.status, response.headers["retry-after"]]).toEqual([503, "30"]);
    expect(await statusOf()).toBe(503);
    replies = [{ body: { value: [group(STAFF)] } }];
    expect(await statusOf()).toBe(200);
    expect(provider.requestsTo("authorize").length).toBe(1);
  });

  it("responds with 503 if the connection breaks on a later page, and stores nothing", async () => {
    await signIn();
    replies = [{ body: { value: [group(STAFF)], "@odata.nextLink": `${GRAPH}${FIRST}` } }];
    const reply = respond;
    respond = (response) => (replies.length > 0 ? reply(response) : response.destroy());
    expect([await statusOf(), await dataOf()]).toEqual([503, { groups: null }]);
  });

  it.each<[string, unknown]>([
    ["is no list", { value: { id: STAFF } }],
    ["is null", null],
    ["is a list itself", [group(STAFF)]],
    [
      "names a page elsewhere",
      { value: [group(STAFF)], "@odata.nextLink": "https://evil.example/v1.0/x" },
    ],
    ["names a page that is no text", { value: [group(STAFF)], "@odata.nextLink": 7 }],
  ])("responds with 503, and stores nothing, if a response %s", async (_what, body) => {
    await signIn();
    replies = [{ body }];
    expect([await statusOf(), asked.length]).toEqual([503, 1]);
    expect(await dataOf()).toEqual({ groups: null });
  });

  it("skips entries without an id", async () => {
    await signIn();
    replies = [{ body: { value: [null, STAFF, {}, { id: [STAFF] }] } }];
    expect([await statusOf(), asked.length]).toEqual([403, 1]);
  });

  it("responds with 503 if the pages don't end", async () => {
    await signIn();
    replies = Array.from({ length: 30 }, () => ({
      body: { value: [group(STAFF)], "@odata.nextLink": `${GRAPH}${FIRST}` },
    }));
    expect([await statusOf(), asked.length]).toEqual([503, 20]);
  });

  it("responds with 503 if Entra ID is down, and with 401 if the user has to consent", async () => {
    await signIn();
    await provider.pause();
    expect(await statusOf()).toBe(503);
    await provider.resume();
    provider.clock.advance(60_000);
    provider.fault("token", {
      kind: "status",
      status: 400,
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ error: "consent_required" }),
    });
    expect([await statusOf(), asked]).toEqual([401, []]);
  });
});

describe("docs/snippets/entra-id/api.mjs", () => {
  it("requests the API's scope, and sends only a token for this API", async () => {
    await open("api.mjs");
    await user.follow("/idpauth/login/");
    const scope = "api://00001111-aaaa-2222-bbbb-3333cccc4444/Orders.Read";
    expect(provider.requestsTo("authorize")[0]?.query.get("scope")?.split(" ")).toContain(scope);
    replies = [{ body: [] }];
    expect((await user.get("/orders")).status).toBe(200);
    expect(provider.requestsTo("token").at(-1)?.params.get("scope")).toBe(scope);
    expect(decodeJwt(asked[0]?.token ?? "").aud).toBe("00001111-aaaa-2222-bbbb-3333cccc4444");
  });
});
