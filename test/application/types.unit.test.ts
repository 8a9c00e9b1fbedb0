import type { Request as ExpressRequest } from "express";
import { describe, expectTypeOf, it } from "vitest";
import { idpAuth as express } from "../../src/adapters/express/express.js";
import { idpAuth as fastify } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchStyle } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as hono } from "../../src/adapters/hono/hono.js";
import { idpAuth as koa } from "../../src/adapters/koa/koa.js";
import { idpAuth as node } from "../../src/adapters/node/node.js";
import type { idpAuth as next } from "../../src/adapters/next/next.js";
import type { IdpAuthModule } from "../../examples/nestjs/idp-auth/idp-auth.module.js";
import { createIdpAuth } from "../../src/adapter.js";
import {
  allOf,
  anyOf,
  deny,
  emailDomain,
  hasClaim,
  memoryStore,
  type RouteRule,
  type IdpAuthOptions,
  type IdpRequest,
  type Session,
  type SignInInput,
  type WithClaims,
} from "../../src/index.js";
import type { JsonObject } from "../../src/record/json.js";

interface Issues {
  readonly issues: readonly {
    readonly message: string;
    readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  }[];
}
interface Valid<Output> {
  readonly value: Output;
  readonly issues?: undefined;
}

/**
 * The interface as a library such as zod declares it: with the type of the input, and with more
 * than idpauth reads.
 */
interface LibrarySchema<Input, Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
      options?: { readonly libraryOptions?: Record<string, unknown> | undefined },
    ) => Valid<Output> | Issues | Promise<Valid<Output> | Issues>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
  parse(value: unknown): Output;
}

interface Own {
  groups: string[];
  level?: number | undefined;
}

interface Row {
  userId: number;
  role: string;
}

const schema: LibrarySchema<{ groups?: string[] }, Own> = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Own }) },
  parse: (value) => value as Own,
};
const upsert = (_issuer: string, _subject: string): Promise<Row> =>
  Promise.resolve({ userId: 1, role: "admin" });

/** The functions of each adapter whose types depend on the schema and the hook. */
interface Typed<FrameworkRequest, OwnClaims extends object, Data extends object> {
  getSession<const Value>(
    raw: FrameworkRequest,
    options: { readonly ifUnavailable: Value },
  ): Promise<Session<OwnClaims, Data> | Value | null>;
  getSession(raw: FrameworkRequest): Promise<Session<OwnClaims, Data> | null>;
  requireSession(raw: FrameworkRequest): Promise<Session<OwnClaims, Data>>;
  updateData(
    raw: FrameworkRequest,
    change: (data: Readonly<Partial<Data>>) => Partial<Data>,
  ): Promise<Readonly<Partial<Data>> | null>;
}
type TypedOf<Auth extends Record<keyof Typed<never, never, never>, unknown>> = Pick<
  Auth,
  keyof Typed<never, never, never>
>;

type RequestOf<Auth extends { getCredentials(raw: never): unknown }> = Parameters<
  Auth["getCredentials"]
>[0];

/** What `allow` gets. */
type SubjectOf<Auth extends { idpRequiredWith(route: never): unknown }> = Parameters<
  NonNullable<Extract<Parameters<Auth["idpRequiredWith"]>[0], RouteRule>["allow"]>
>[0];

describe("the types of the schema and of the hook reach", () => {
  it("every other hook", () => {
    const auth = express({
      async onSignIn({ claims, user, data }) {
        expectTypeOf(claims.groups).toEqualTypeOf<string[]>();
        expectTypeOf(claims.level).toEqualTypeOf<number | undefined>();
        expectTypeOf(claims.iss).toEqualTypeOf<string>();
        expectTypeOf(claims.email).toEqualTypeOf<unknown>();
        expectTypeOf(user.email).toEqualTypeOf<string | null>();
        expectTypeOf(data).toEqualTypeOf<JsonObject | null>();
        if (!emailDomain("example.com")({ claims })) return deny("Only staff may sign in.");
        const { userId, role } = await upsert(claims.iss, claims.sub);
        return { data: { userId, role } };
      },
      onRefresh({ claims, user }) {
        expectTypeOf(user.name).toEqualTypeOf<string | null>();
        expectTypeOf(claims.groups).toEqualTypeOf<string[]>();
        if (claims.groups.length === 0) return deny();
        return (data) => {
          expectTypeOf(data).toEqualTypeOf<Readonly<Partial<Row>>>();
          return { ...data, role: claims.groups.includes("admin") ? "admin" : "reader" };
        };
      },
      clientData({ claims, data }) {
        expectTypeOf(claims.groups).toEqualTypeOf<string[]>();
        expectTypeOf(data).toEqualTypeOf<Readonly<Partial<Row>>>();
        return { role: data.role };
      },
      onSignOut({ session }) {
        expectTypeOf(session?.data.userId).toEqualTypeOf<number | undefined>();
        expectTypeOf(session?.claims.groups).toEqualTypeOf<string[] | undefined>();
      },
      claims: schema,
    });
    expectTypeOf(auth).toExtend<Typed<ExpressRequest, Own, Row>>();
  });

  it("every other hook, if the data is a function of the newest data whose parameter has a type", () => {
    express({
      async onSignIn({ claims }) {
        const { userId } = await upsert(claims.iss, claims.sub);
        return { data: (current: Partial<Row>): Row => ({ role: "reader", ...current, userId }) };
      },
      onSignOut({ session }) {
        expectTypeOf(session?.data.role).toEqualTypeOf<string | undefined>();
      },
    });
    express({
      onSignIn: () => ({ data: (current: Readonly<Row>) => ({ ...current, userId: 1 }) }),
    });
    const auth = express({ onSignIn: () => ({ data: (current) => ({ ...current, userId: 1 }) }) });
    expectTypeOf(auth).toExtend<Typed<ExpressRequest, object, Record<string, unknown>>>();
  });

  it("the rule of a guard, and ready-made rules with it", () => {
    const auth = express({
      claims: schema,
      onSignIn: () => ({ data: { userId: 1, role: "admin" } }),
    });
    auth.idpRequiredWith({
      allow({ user, claims, data }) {
        expectTypeOf(user.id).toEqualTypeOf<string>();
        expectTypeOf(claims.groups).toEqualTypeOf<string[]>();
        expectTypeOf(data).toEqualTypeOf<Readonly<Partial<Row>>>();
        return data.role === "admin";
      },
    });
    auth.idpRequiredWith({
      allow: async ({ data }) => Promise.resolve(data.role === "admin"),
      maxAge: 60,
      acr: ["gold"],
    });
    auth.idpRequiredWith({ allow: hasClaim("groups", "admin") });
    auth.idpRequiredWith({
      allow: anyOf(hasClaim("groups", "admin"), ({ data }) => data.role === "admin"),
    });
    auth.idpRequiredWith({
      allow: allOf(
        ({ claims }) => claims.groups.length > 0,
        anyOf(emailDomain("example.com"), ({ data }) => data.userId === 1),
      ),
    });
    // @ts-expect-error -- the hook gives no such member
    auth.idpRequiredWith({ allow: ({ data }) => data.rank === 1 });
  });

  it("the rules for the paths of an API, which decide no type themselves", () => {
    const url = "https://orders.internal/";
    const auth = express({
      apis: {
        orders: {
          url,
          rules: [
            {
              path: "admin",
              allow({ claims, data }) {
                expectTypeOf(claims.groups).toEqualTypeOf<string[]>();
                expectTypeOf(data).toEqualTypeOf<Readonly<Partial<Row>>>();
                return data.role === "admin";
              },
            },
            { path: "staff", allow: hasClaim("groups", "staff") },
          ],
        },
      },
      claims: schema,
      onSignIn: () => ({ data: { userId: 1, role: "admin" } }),
    });
    expectTypeOf(auth).toExtend<Typed<ExpressRequest, Own, Row>>();
  });

  it("ready-made rules that stand alone take claims", () => {
    const isStaff = anyOf(hasClaim("groups", "staff"), emailDomain("example.com"));
    expectTypeOf(isStaff).parameter(0).toEqualTypeOf<WithClaims>();
    express({ onSignIn: async ({ claims }) => ((await isStaff({ claims })) ? undefined : deny()) });
  });

  it("requireSession, which is never null, and getSession with the value that stands for an outage", () => {
    const auth = express({
      claims: schema,
      onSignIn: () => ({ data: { userId: 1, role: "admin" } }),
    });
    expectTypeOf(auth.requireSession).returns.resolves.toEqualTypeOf<Session<Own, Row>>();
    const away = (raw: ExpressRequest) => auth.getSession(raw, { ifUnavailable: "away" });
    expectTypeOf(away).returns.resolves.toEqualTypeOf<Session<Own, Row> | "away" | null>();
    const signedOut = (raw: ExpressRequest) => auth.getSession(raw, { ifUnavailable: null });
    expectTypeOf(signedOut).returns.resolves.toEqualTypeOf<Session<Own, Row> | null>();
    // @ts-expect-error -- without the value, there is nothing to return in an outage
    const nothing = (raw: ExpressRequest) => auth.getSession(raw, {});
    expectTypeOf(nothing).toBeFunction();
  });

  it("updateData, whose change may leave keys as they are or out, because an old session lacks them", () => {
    const auth = express({ onSignIn: () => ({ data: { userId: 1, role: "admin" } }) });
    const change = (raw: ExpressRequest) =>
      auth.updateData(raw, (data) => ({ ...data, role: "reader" }));
    expectTypeOf(change).returns.resolves.toEqualTypeOf<Readonly<Partial<Row>> | null>();
    const drop = (raw: ExpressRequest) => auth.updateData(raw, () => ({ role: "reader" }));
    expectTypeOf(drop).toBeFunction();
    // @ts-expect-error -- `role` is a string
    const wrong = (raw: ExpressRequest) => auth.updateData(raw, (data) => ({ ...data, role: 7 }));
    expectTypeOf(wrong).toBeFunction();
  });

  it("data whose keys a session from before the hook lacks", () => {
    const auth = express({ onSignIn: () => ({ data: { userId: 1, role: "admin" } }) });
    const userId = async (raw: ExpressRequest) => (await auth.requireSession(raw)).data.userId;
    expectTypeOf(userId).returns.resolves.toEqualTypeOf<number | undefined>();
  });
});

describe("the type of the data comes from", () => {
  const dataOf = <Data extends object = Record<string, unknown>>(
    _options: IdpAuthOptions<object, Data>,
  ): Data => ({}) as Data;

  it("a hook with several results: data, nothing and a denial", () => {
    const data = dataOf({
      onSignIn({ claims, data: before }) {
        if (claims.sub === "nobody") return deny();
        if (before !== null) return undefined;
        if (claims.sub === "root") return { data: { userId: 0, role: "admin" } };
        return { data: { userId: 1, role: "reader" } };
      },
    });
    expectTypeOf(data).toEqualTypeOf<Row>();
  });

  it("an async hook that gives data to some users only", () => {
    const data = dataOf({
      async onSignIn({ claims }) {
        return claims.sub === "new" ? { data: await upsert(claims.iss, claims.sub) } : undefined;
      },
    });
    expectTypeOf(data).toEqualTypeOf<Row>();
  });

  it("a hook that names its result", () => {
    interface Themed extends Row {
      theme?: "dark" | "light";
    }
    const data = dataOf({
      onSignIn: async (): Promise<{ data: Themed }> => ({ data: await upsert("", "") }),
    });
    expectTypeOf(data).toEqualTypeOf<Themed>();
  });

  it("nothing: any JSON, without a hook or with one that only denies", () => {
    expectTypeOf(dataOf({})).toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf(dataOf({ onSignIn: () => deny() })).toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf(dataOf({ onSignIn: () => undefined })).toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf(dataOf({ onSignIn: async () => Promise.resolve() })).toEqualTypeOf<
      Record<string, unknown>
    >();
    expectTypeOf(dataOf({ onRefresh: () => (data) => ({ ...data, seen: 1 }) })).toEqualTypeOf<
      Record<string, unknown>
    >();
  });

  it("no hook that returns something else", () => {
    // @ts-expect-error -- data is an object
    express({ onSignIn: () => ({ data: 7 }) });
    // @ts-expect-error -- the change returns data
    express({ onRefresh: () => () => 7 });
    // @ts-expect-error -- a hook that means to deny must return `deny()`
    express({ onSignIn: () => false });
  });
});

describe("every adapter has these types without a cast:", () => {
  const options = {
    claims: schema,
    onSignIn: async ({ claims }: SignInInput<Own>) => ({
      data: await upsert(claims.iss, claims.sub),
    }),
  };

  it("Express", () => {
    const _auth = express({
      claims: schema,
      onSignIn: async ({ claims }) => ({ data: await upsert(claims.iss, claims.groups.join()) }),
    });
    expectTypeOf<TypedOf<typeof _auth>>().toEqualTypeOf<Typed<RequestOf<typeof _auth>, Own, Row>>();
    expectTypeOf<SubjectOf<typeof _auth>>().toEqualTypeOf<Session<Own, Row>>();
  });

  it("Fastify", () => {
    const _auth = fastify({
      claims: schema,
      onSignIn: async ({ claims }) => ({ data: await upsert(claims.iss, claims.groups.join()) }),
    });
    expectTypeOf<TypedOf<typeof _auth>>().toEqualTypeOf<Typed<RequestOf<typeof _auth>, Own, Row>>();
    expectTypeOf<SubjectOf<typeof _auth>>().toEqualTypeOf<Session<Own, Row>>();
  });

  it("Hono", () => {
    const _auth = hono({
      claims: schema,
      onSignIn: async ({ claims }) => ({ data: await upsert(claims.iss, claims.groups.join()) }),
    });
    expectTypeOf<TypedOf<typeof _auth>>().toEqualTypeOf<Typed<RequestOf<typeof _auth>, Own, Row>>();
    expectTypeOf<SubjectOf<typeof _auth>>().toEqualTypeOf<Session<Own, Row>>();
  });

  it("Koa", () => {
    const _auth = koa({
      claims: schema,
      onSignIn: async ({ claims }) => ({ data: await upsert(claims.iss, claims.groups.join()) }),
    });
    expectTypeOf<TypedOf<typeof _auth>>().toEqualTypeOf<Typed<RequestOf<typeof _auth>, Own, Row>>();
    expectTypeOf<SubjectOf<typeof _auth>>().toEqualTypeOf<Session<Own, Row>>();
  });

  it("node:http", () => {
    const _auth = node({
      claims: schema,
      onSignIn: async ({ claims }) => ({ data: await upsert(claims.iss, claims.groups.join()) }),
    });
    expectTypeOf<TypedOf<typeof _auth>>().toEqualTypeOf<Typed<RequestOf<typeof _auth>, Own, Row>>();
    expectTypeOf<SubjectOf<typeof _auth>>().toEqualTypeOf<Session<Own, Row>>();
  });

  it("fetch", () => {
    const auth = fetchStyle({
      claims: schema,
      onSignIn: async ({ claims }) => ({ data: await upsert(claims.iss, claims.groups.join()) }),
    });
    expectTypeOf<TypedOf<typeof auth>>().toEqualTypeOf<Typed<RequestOf<typeof auth>, Own, Row>>();
    expectTypeOf<SubjectOf<typeof auth>>().toEqualTypeOf<Session<Own, Row>>();
    expectTypeOf(auth.guard)
      .parameter(1)
      .toExtend<RouteRule<Own, Row, string, Request> | undefined>();
  });

  it("Next.js, whose store may be a function", () => {
    // Not run: Next.js is not installed here.
    function application(idpAuth: typeof next) {
      const auth = idpAuth({
        store: () => memoryStore(),
        claims: schema,
        onSignIn: async ({ claims }) => ({ data: await upsert(claims.iss, claims.groups.join()) }),
        onRefresh: () => (data) => ({ ...data, role: "reader" }),
      });
      expectTypeOf<ReturnType<typeof auth.getSession>>().resolves.toEqualTypeOf<Session<
        Own,
        Row
      > | null>();
      expectTypeOf(auth.requireSession).returns.resolves.toEqualTypeOf<Session<Own, Row>>();
      expectTypeOf(auth.updateData).returns.resolves.toEqualTypeOf<Readonly<Partial<Row>> | null>();
      const change = (data: Readonly<Partial<Row>>) => {
        expectTypeOf(data).toEqualTypeOf<Readonly<Partial<Row>>>();
        return data;
      };
      void auth.updateData((data) => change(data));
      void auth.updateData(new Request("https://app.example/"), (data) => change(data));
      expectTypeOf<SubjectOf<typeof auth>>().toEqualTypeOf<Session<Own, Row>>();
    }
    expectTypeOf(application).toBeFunction();
  });

  it("NestJS, whose module takes the options", () => {
    function application(module: typeof IdpAuthModule) {
      module.forRoot({
        claims: schema,
        onSignIn: async ({ claims }) => ({ data: await upsert(claims.iss, claims.groups.join()) }),
        clientData: ({ claims, data }) => ({ groups: claims.groups, role: data.role }),
      });
      module.forRoot({ clientData: ({ data }) => ({ role: data["role"] }) });
    }
    expectTypeOf(application).toBeFunction();
  });

  it("createIdpAuth, for authors of adapters", () => {
    const _auth = createIdpAuth(options, { name: "plain", request: (raw: IdpRequest) => raw });
    expectTypeOf<TypedOf<typeof _auth>>().toEqualTypeOf<Typed<RequestOf<typeof _auth>, Own, Row>>();
  });
});
