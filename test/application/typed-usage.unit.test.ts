import express, { type Request } from "express";
import { createServer } from "node:http";
import { describe, expectTypeOf, it } from "vitest";
import { idpAuth } from "idpauth/express";
import {
  deny,
  emailDomain,
  type Claims,
  type ClaimsSchema,
  type ClientState,
  type Credentials,
  type Session,
  type SessionUser,
} from "idpauth";
import { memoryStore } from "idpauth";
import { signedInAs, signIn, startTestProvider } from "idpauth/testing";

// What applications write, by topic. tsc checks it: the functions are never called.

const issuer = "https://login.example.com";
const clientId = "app";
const app = express();

interface Groups {
  groups: string[];
}
interface Row {
  userId: number;
  role: string;
  theme?: string;
}
const schema: ClaimsSchema<Groups> = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Groups }) },
};
const users = {
  upsert: (_issuer: string, _subject: string, _email: unknown) =>
    Promise.resolve<Row>({ userId: 1, role: "admin" }),
};

describe("an application writes", () => {
  it("a guarded route and a public page", () => {
    const sample = () => {
      const auth = idpAuth();
      auth.mount(app);
      app.get("/reports", auth.idpRequired, async (req, res) => {
        const session = await auth.requireSession(req);
        expectTypeOf(session).toEqualTypeOf<Session>();
        expectTypeOf(session.user).toEqualTypeOf<SessionUser>();
        res.json(await auth.getAccessToken(req));
      });
      app.get("/", async (req) => {
        const session = await auth.getSession(req, { ifUnavailable: null });
        expectTypeOf(session).toBeNullable();
      });
    };
    expectTypeOf(sample).toBeFunction();
  });

  it("its side of a sign-in, with the types of the schema and of the hook", () => {
    const sample = async (req: Request) => {
      const auth = idpAuth({
        authorizationParams: { audience: "https://api.example.com" },
        loginParams: ["login_hint", "ui_locales", "organization"],
        claims: schema,
        userinfo: "always",
        async onSignIn({ claims, userinfo, credentials, request, data }) {
          expectTypeOf(claims).toEqualTypeOf<Claims & Groups>();
          expectTypeOf(credentials).toEqualTypeOf<Credentials>();
          expectTypeOf(request.header).toBeFunction();
          expectTypeOf(userinfo).toBeNullable();
          expectTypeOf(data).toBeNullable();
          if (!emailDomain("example.com")({ claims })) return deny("Only staff may sign in.");
          return { data: await users.upsert(claims.iss, claims.sub, claims.email) };
        },
      });
      app.get("/admin", auth.idpRequiredWith({ allow: ({ data }) => data.role === "admin" }));
      app.post("/transfer", auth.idpRequiredWith({ maxAge: 300 }));
      const changed = await auth.updateData(req, (data) => ({ ...data, theme: "dark" }));
      expectTypeOf(changed).toEqualTypeOf<Readonly<Partial<Row>> | null>();
      const { user, claims, data, signedInAt, lastActive, expiresAt } =
        await auth.requireSession(req);
      expectTypeOf(user.email).toEqualTypeOf<string | null>();
      expectTypeOf(claims.groups).toEqualTypeOf<string[]>();
      expectTypeOf(data.role).toEqualTypeOf<string | undefined>();
      expectTypeOf([signedInAt, lastActive, expiresAt]).toEqualTypeOf<(number | null)[]>();
    };
    expectTypeOf(sample).toBeFunction();
  });

  it("sign-outs, here, at the provider and everywhere", () => {
    const sample = async (req: Request) => {
      const auth = idpAuth({ logoutAtProvider: true });
      await auth.endAllSessions({ iss: issuer, sub: "ada" });
      expectTypeOf(auth.whenEnded(req)).toEqualTypeOf<AbortSignal>();
    };
    expectTypeOf(sample).toBeFunction();
  });

  it("several providers and APIs, by the names that it gave them", () => {
    const sample = async (req: Request) => {
      const auth = idpAuth({
        providers: {
          staff: { issuer, clientId, privateKey: "file:key.pem" },
          customers: { issuer, clientId, clientSecret: "secret" },
        },
        apis: {
          orders: {
            url: "https://orders.internal/",
            path: "/api/orders/",
            resource: "https://orders.example.com",
          },
        },
      });
      app.get("/payroll", auth.idpRequiredWith({ provider: "staff" }));
      await auth.getAccessToken(req, { api: "orders" });
      expectTypeOf(await auth.fetchApi(req, "orders", "items?open=true")).toEqualTypeOf<Response>();
      app.use(auth.proxyApi("orders"));
      // @ts-expect-error -- a misspelled API
      await auth.getAccessToken(req, { api: "ordrs" });
      // @ts-expect-error -- a misspelled provider
      auth.idpRequiredWith({ provider: "stuff" });
      // From IDP_PROVIDERS, the names are text.
      idpAuth().idpRequiredWith({ provider: "staff" });
    };
    expectTypeOf(sample).toBeFunction();
  });

  it("one reader for each purpose: signed out is null", () => {
    const sample = async (req: Request) => {
      const auth = idpAuth();
      expectTypeOf(await auth.getSession(req)).toEqualTypeOf<Session | null>();
      expectTypeOf(await auth.requireSession(req)).toEqualTypeOf<Session>();
      expectTypeOf(await auth.getAccessToken(req)).toEqualTypeOf<string | null>();
      expectTypeOf(await auth.getCredentials(req)).toEqualTypeOf<Credentials | null>();
      expectTypeOf(auth.seenSession(req)).toEqualTypeOf<Session | null>();
      expectTypeOf(await auth.clientState(req)).toEqualTypeOf<ClientState>();
      expectTypeOf(
        await auth.clientState(req, { ifUnavailable: null }),
      ).toEqualTypeOf<ClientState | null>();
      expectTypeOf(await auth.checkIdpAuthentication(req)).toEqualTypeOf<boolean>();
      expectTypeOf(await auth.readSessionRecord(req)).toBeNullable();
      expectTypeOf(auth).not.toHaveProperty("getUser");
      expectTypeOf(auth).not.toHaveProperty("getData");
    };
    expectTypeOf(sample).toBeFunction();
  });

  it("a shutdown in order", () => {
    const sample = async () => {
      const auth = idpAuth();
      const store = memoryStore();
      const server = createServer(app);
      const closed = new Promise((resolve) => server.close(resolve));
      await auth.close({ timeout: 30 });
      await closed;
      await store.close?.();
    };
    expectTypeOf(sample).toBeFunction();
  });

  it("where its sessions are stored, and tests", () => {
    const sample = async () => {
      const provider = await startTestProvider();
      const auth = idpAuth({ session: "host" });
      expectTypeOf(auth.start()).toExtend<readonly unknown[]>();
      const browser = await signIn(app);
      await browser.get("/reports");
      await signedInAs(auth, { sub: "ada" });
      await provider.stop();
    };
    expectTypeOf(sample).toBeFunction();
  });
});
