import { describe, expectTypeOf, it } from "vitest";
import { idpAuth as express, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastify, type FastifyIdpAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchStyle, type FetchIdpAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as hono, type HonoIdpAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koa, type KoaIdpAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as node, type NodeIdpAuth } from "../../src/adapters/node/node.js";
import type { NextIdpAuth, idpAuth as next } from "../../src/adapters/next/next.js";
import { memoryStore, type ApiOptions, type IdpAuthOptions } from "../../src/index.js";
import { signedInAs } from "../../src/testing/index.js";

// tsc checks what this file states. At run time, it creates components and calls nothing else.

const unknown = Math.random() < 0.5;
const issuer = "https://login.example.com/";
const url = "https://orders.internal/";
const two = {
  providers: { staff: { issuer }, customers: { issuer } },
  apis: { orders: { url }, invoices: { url } },
};
type Data = Record<string, unknown>;
interface Names {
  api: "orders" | "invoices";
  provider: "staff" | "customers";
}

/** Accessors with names. */
interface WithNames {
  getAccessToken(raw: never, options?: never): unknown;
  fetchApi(raw: never, api: never, path: never): unknown;
  proxyApi(api: never, rule?: never): unknown;
  idpRequiredWith(rule: never): unknown;
  loginUrl(raw: never, options?: never): unknown;
}
type Optional<Options, Name extends string> =
  Options extends Readonly<Partial<Record<Name, infer Value>>>
    ? Exclude<Value, undefined | ((request: never) => unknown)>
    : never;
/** The names that each accessor takes. */
interface Taken<Auth extends WithNames> {
  getAccessToken: Optional<Parameters<Auth["getAccessToken"]>[1], "api">;
  fetchApi: Parameters<Auth["fetchApi"]>[1];
  proxyApi: Parameters<Auth["proxyApi"]>[0];
  proxyRule: Optional<Parameters<Auth["proxyApi"]>[1], "provider">;
  idpRequiredWith: Optional<Parameters<Auth["idpRequiredWith"]>[0], "provider">;
  loginUrl: Optional<Parameters<Auth["loginUrl"]>[1], "provider">;
}
type Providers = Names["provider"] | readonly Names["provider"][];
interface Expected {
  getAccessToken: Names["api"];
  fetchApi: Names["api"];
  proxyApi: Names["api"];
  proxyRule: Providers;
  idpRequiredWith: Providers;
  loginUrl: Names["provider"];
}

describe("every adapter infers the names, and takes no other:", () => {
  it("Express", () => {
    const auth = express(two);
    expectTypeOf(auth).toEqualTypeOf<ExpressIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<ExpressIdpAuth>();
    expectTypeOf<Taken<typeof auth>>().toEqualTypeOf<Expected>();
  });

  it("Fastify", () => {
    const auth = fastify(two);
    expectTypeOf(auth).toEqualTypeOf<FastifyIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<FastifyIdpAuth>();
    expectTypeOf<Taken<typeof auth>>().toEqualTypeOf<Expected>();
  });

  it("Hono", () => {
    const auth = hono(two);
    expectTypeOf(auth).toEqualTypeOf<HonoIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<HonoIdpAuth>();
    expectTypeOf<Taken<typeof auth>>().toEqualTypeOf<Expected>();
  });

  it("Koa", () => {
    const auth = koa(two);
    expectTypeOf(auth).toEqualTypeOf<KoaIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<KoaIdpAuth>();
    expectTypeOf<Taken<typeof auth>>().toEqualTypeOf<Expected>();
  });

  it("node:http", () => {
    const auth = node(two);
    expectTypeOf(auth).toEqualTypeOf<NodeIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<NodeIdpAuth>();
    expectTypeOf<Taken<typeof auth>>().toEqualTypeOf<Expected>();
  });

  it("fetch", () => {
    const auth = fetchStyle(two);
    expectTypeOf(auth).toEqualTypeOf<FetchIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<FetchIdpAuth>();
    expectTypeOf<Taken<typeof auth>>().toEqualTypeOf<Expected>();
    expectTypeOf<
      Optional<Parameters<typeof auth.guard>[1], "provider">
    >().toEqualTypeOf<Providers>();
  });

  it("Next.js, whose accessors take the request last", () => {
    // Not run: Next.js is not installed here.
    function application(idpAuth: typeof next) {
      const auth = idpAuth({ ...two, store: () => memoryStore() });
      expectTypeOf(auth).toEqualTypeOf<NextIdpAuth<object, Data, Names>>();
      expectTypeOf(auth).toExtend<NextIdpAuth>();
      return [
        auth.getAccessToken({ api: "orders" }),
        // @ts-expect-error -- there is no such API
        auth.getAccessToken({ api: "ordrs" }),
        // @ts-expect-error -- there is no such API
        auth.fetchApi("ordrs", "items"),
        // @ts-expect-error -- there is no such API
        auth.proxyApi("ordrs"),
        // @ts-expect-error -- there is no such provider
        auth.proxyApi("orders", { provider: "stuff" }),
        // @ts-expect-error -- there is no such provider
        auth.idpRequiredWith({ provider: "stuff" }),
        // @ts-expect-error -- there is no such provider
        auth.loginUrl({ provider: "stuff" }),
      ];
    }
    expectTypeOf(application).toBeFunction();
  });
});

describe("a misspelled name doesn't compile", () => {
  it("where a token is revoked, a list of providers is given, or a test signs in", () => {
    const auth = express(two);
    const calls = () => [
      auth.revokeIdpToken("token", "access_token", "staff"),
      // @ts-expect-error -- there is no such provider
      auth.revokeIdpToken("token", "access_token", "stuff"),
      auth.idpRequiredWith({ provider: ["staff", "customers"] }),
      // @ts-expect-error -- there is no such provider
      auth.idpRequiredWith({ provider: ["staff", "stuff"] }),
      signedInAs(auth, {}, { provider: "staff" }),
      // @ts-expect-error -- there is no such provider
      signedInAs(auth, {}, { provider: "stuff" }),
    ];
    expectTypeOf(calls).toBeFunction();
  });

  it("in the options themselves, which take no further names from there", () => {
    const { providers } = two;
    // The startup checks look up these: the options may come from several places.
    express({ providers, defaultProvider: "stuff" });
    express({ providers, apis: { orders: { url, provider: "stuff" } } });
    const create = (options: IdpAuthOptions) => express({ ...options, providers });
    expectTypeOf(create).returns.toExtend<ExpressIdpAuth>();
    // @ts-expect-error -- there is no such option of a provider
    express({ providers: { staff: { isuer: issuer } } });
    // @ts-expect-error -- there is no such option of an API
    express({ apis: { orders: { uri: url } } });
  });
});

describe("the names are inferred together with", () => {
  it("the claims and the data, which the rules in `apis` get", () => {
    const auth = express({
      onSignIn: ({ claims }) => ({ data: { role: claims.sub } }),
      providers: { staff: { issuer } },
      apis: {
        orders: {
          url,
          provider: "staff",
          rules: [{ path: "admin", allow: ({ data }) => data.role === "admin" }],
        },
      },
    });
    expectTypeOf(auth).toEqualTypeOf<
      ExpressIdpAuth<object, { role: string }, { api: "orders"; provider: "staff" }>
    >();
  });

  it("keys that the application adds under a condition", () => {
    const { customers, ...providers } = two.providers;
    const auth = express({ providers: { ...providers, ...(unknown && { customers }) } });
    expectTypeOf(auth).toEqualTypeOf<
      ExpressIdpAuth<object, Data, { api: string; provider: Names["provider"] }>
    >();
  });
});

describe("a name is a string if it isn't known when the application compiles:", () => {
  it("the environment names the providers, and the code has no `apis`", () => {
    expectTypeOf(express()).toEqualTypeOf<ExpressIdpAuth>();
    expectTypeOf(express({ defaultProvider: "staff" })).toEqualTypeOf<ExpressIdpAuth>();
  });

  it("the options have a wide type", () => {
    const apis: Record<string, ApiOptions> = {};
    const options: IdpAuthOptions = { ...two };
    expectTypeOf(express({ apis })).toEqualTypeOf<ExpressIdpAuth>();
    expectTypeOf(express(options)).toEqualTypeOf<ExpressIdpAuth>();
  });

  it("a function takes the component of any application, or of those with a certain API", () => {
    const anyApplication = (auth: ExpressIdpAuth) => auth.proxyApi("any name");
    const withOrders = (
      auth: ExpressIdpAuth<object, object, { api: "orders"; provider: string }>,
    ) => auth.proxyApi("orders");
    const uses = () => [anyApplication(express(two)), withOrders(express(two))];
    expectTypeOf(uses).toBeFunction();
  });
});
