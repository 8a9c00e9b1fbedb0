import { readFileSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { IdpAuthOptions } from "../../src/index.js";
import * as kit from "../../src/testing/index.js";
import { ensurePostgres, startPostgres, type PostgresServer } from "../support/postgres-server.js";

// docs/snippets/user-table/link.mjs with two providers, and with the tables that
// docs/how-to/user-table.md creates.

const DOCS = path.resolve(import.meta.dirname, "../../docs");
const given = vi.hoisted((): { options: IdpAuthOptions } => ({ options: {} }));

vi.mock("../../src/adapters/express/express.js", async (original) => {
  const entry = await original<{ idpAuth: (options: IdpAuthOptions) => unknown }>();
  return {
    ...entry,
    idpAuth: (options: IdpAuthOptions = {}) => entry.idpAuth({ ...given.options, ...options }),
  };
});

const ORIGIN = "https://app.example";
const ADA = { sub: "customer-ada", email: "ada@example.com", email_verified: true };
const ADA_AT_WORK = { sub: "staff-ada", email: "a.lovelace@corp.example", email_verified: true };
/** Entered the address of Ada's customer account. */
const EVE = { sub: "staff-eve", email: ADA.email, email_verified: false };

const isHere = (await ensurePostgres()) !== undefined;

describe.skipIf(!isHere)("docs/snippets/user-table/link.mjs", () => {
  interface Pool {
    query: (text: string, values: unknown[]) => Promise<unknown>;
  }
  let server: PostgresServer;
  let database: pg.Pool;
  let customers: kit.TestProvider;
  let staff: kit.TestProvider;
  let user: kit.TestBrowser;
  let runs = 0;

  beforeAll(async () => {
    server = await startPostgres();
    database = new pg.Pool({ connectionString: server.url });
    const [, sql = ""] =
      /^```sql\n(.*?)^```$/ms.exec(readFileSync(`${DOCS}/how-to/user-table.md`, "utf8")) ?? [];
    await database.query(sql);
    const { pool } = (await import(`${DOCS}/snippets/user-table/pool.mjs`)) as { pool: Pool };
    vi.spyOn(pool, "query").mockImplementation((text, values) => database.query(text, values));
  });

  afterAll(async () => {
    await database.end();
    await server.stop();
  });

  beforeEach(async () => {
    customers = await kit.startTestProvider({ person: ADA });
    staff = await kit.startTestProvider({ person: ADA_AT_WORK, clock: customers.clock });
    const client = ({ issuer, clientId, clientSecret }: kit.TestProvider) => ({
      issuer,
      clientId,
      clientSecret,
    });
    given.options = {
      baseUrl: ORIGIN,
      secretKey: "a secret key of at least 32 bytes",
      providers: { customers: client(customers), staff: client(staff) },
      clock: customers.clock,
      log: false,
      env: {},
    };
    await database.query("truncate identities, link_intents");
    await database.query("insert into identities values ($1, $2, 7)", [customers.issuer, ADA.sub]);
    user = await open();
  });

  afterEach(async () => {
    await user.close();
    await Promise.all([customers.stop(), staff.stop()]);
  });

  async function open(): Promise<kit.TestBrowser> {
    const { app } = (await import(`${DOCS}/snippets/user-table/link.mjs?run=${++runs}`)) as {
      app: kit.TestedApplication;
    };
    return kit.browser(app, { origin: ORIGIN, clock: customers.clock });
  }

  const identities = async () =>
    (await database.query("select sub, user_id::int from identities order by sub")).rows;
  const confirm = (options?: object) =>
    user.post("/account/link/confirm", new URLSearchParams(), options);
  const orders = async () => (await user.follow("/orders")).json() as unknown;

  /** Up to the page that shows both accounts. */
  async function begin() {
    await user.follow("/account/link");
    const started = await user.post("/account/link", new URLSearchParams());
    expect(started.status).toBe(303);
    return user.follow(started.location ?? "");
  }

  it("links the accounts after a step-up at both providers", async () => {
    await user.follow("/idpauth/login/?provider=customers");
    expect(await orders()).toEqual({ userId: 7 });
    customers.clock.advance(360_000);
    staff.signedIn.set(ADA_AT_WORK.sub, Math.floor(customers.clock.now() / 1000) - 3600);
    const page = await begin();
    expect(page.text).toContain(`${ADA_AT_WORK.email} to ${ADA.email}`);
    for (const one of [customers, staff])
      expect(one.requestsTo("authorize").at(-1)?.query.get("max_age")).toBe("300");
    expect((await confirm()).status).toBe(200);
    expect(await orders()).toEqual({ userId: 7 });
    await user.follow("/idpauth/login/?provider=staff");
    expect(await orders()).toEqual({ userId: 7 });
    expect(await identities()).toEqual([
      { sub: ADA.sub, user_id: 7 },
      { sub: ADA_AT_WORK.sub, user_id: 7 },
    ]);
  });

  it("requires a recent authentication at each provider", async () => {
    await begin();
    customers.clock.advance(600_000);
    expect((await confirm()).status).toBe(401);
    await user.follow("/idpauth/login/?provider=customers");
    customers.clock.advance(600_000);
    expect((await user.post("/account/link", new URLSearchParams())).status).toBe(401);
  });

  it("gives nothing to another user with the same unverified email address at the second provider", async () => {
    staff.person = EVE;
    await user.follow("/idpauth/login/?provider=staff");
    expect(await orders()).toEqual({ userId: null });
    expect((await user.follow("/account/link/confirm")).status).toBe(409);
    expect((await confirm()).status).toBe(409);
    expect(await identities()).toEqual([{ sub: ADA.sub, user_id: 7 }]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["has expired", () => database.query("update link_intents set expires_at = now()")],
    [
      "is of another browser",
      async () =>
        user.cookies.take(
          new URL(ORIGIN),
          `__Host-Http-link=${"A".repeat(43)}; Path=/; Secure; HttpOnly`,
        ),
    ],
    ["is in a cookie with a longer name, which a sibling domain can set", rename],
    ["belonged to a session that has signed out", signOut],
    ["was shown with another account", () => signInAs(EVE)],
  ])("refuses an intent that %s", async (_case, change) => {
    await begin();
    await change();
    expect([(await user.follow("/account/link/confirm")).status, (await confirm()).status]).toEqual(
      [409, 409],
    );
    expect(await identities()).toEqual([{ sub: ADA.sub, user_id: 7 }]);
  });

  it("refuses an intent that was used", async () => {
    await begin();
    const { cookie } = user;
    expect((await confirm({ headers: { cookie } })).status).toBe(200);
    await database.query("delete from identities where sub = $1", [ADA_AT_WORK.sub]);
    expect((await confirm({ headers: { cookie } })).status).toBe(409);
    expect(await identities()).toEqual([{ sub: ADA.sub, user_id: 7 }]);
  });

  it("refuses an account that has a user of its own", async () => {
    await database.query("insert into identities values ($1, $2, 8)", [
      staff.issuer,
      ADA_AT_WORK.sub,
    ]);
    await begin();
    expect((await confirm()).status).toBe(409);
    expect(await orders()).toEqual({ userId: 8 });
  });

  it("refuses a form of another site", async () => {
    await begin();
    expect((await confirm({ from: "https://attacker.example/" })).status).toBe(403);
    expect(
      (
        await user.post("/account/link", new URLSearchParams(), {
          from: "https://attacker.example/",
        })
      ).status,
    ).toBe(403);
  });

  async function signInAs(person: kit.PersonClaims) {
    staff.person = person;
    await user.follow("/idpauth/login/?provider=staff");
  }

  async function rename() {
    const value = user.cookies.value("__Host-Http-link") ?? "";
    user.cookies.take(new URL(ORIGIN), "__Host-Http-link=; Path=/; Secure; HttpOnly; Max-Age=0");
    user.cookies.take(new URL(ORIGIN), `x__Host-Http-link=${value}; Path=/; Secure`);
  }

  async function signOut() {
    await user.follow("/idpauth/logout/");
    await expect
      .poll(async () => (await database.query("select * from link_intents")).rowCount)
      .toBe(0);
  }
});
