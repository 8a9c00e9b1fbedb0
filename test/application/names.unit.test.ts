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

describe("every adapter infers the names, and takes no other:", () => {
  it("Express", () => {
    const auth = express(two);
    expectTypeOf(auth).toEqualTypeOf<ExpressIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<ExpressIdpAuth>();
    const wrong = (raw: Parameters<typeof auth.getCredentials>[0]) => [
      // @ts-expect-error -- there is no such API
      auth.getAccessToken(raw, { api: "ordrs" }),
      // @ts-expect-error -- there is no such API
      auth.fetchApi(raw, "ordrs", "items"),
      // @ts-expect-error -- there is no such API
      auth.proxyApi("ordrs"),
      // @ts-expect-error -- there is no such provider
      auth.proxyApi("orders", { provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.idpRequiredWith({ provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.loginUrl(raw, { provider: "stuff" }),
    ];
    expectTypeOf(wrong).toBeFunction();
  });

  it("Fastify", () => {
    const auth = fastify(two);
    expectTypeOf(auth).toEqualTypeOf<FastifyIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<FastifyIdpAuth>();
    const wrong = (raw: Parameters<typeof auth.getCredentials>[0]) => [
      // @ts-expect-error -- there is no such API
      auth.getAccessToken(raw, { api: "ordrs" }),
      // @ts-expect-error -- there is no such API
      auth.fetchApi(raw, "ordrs", "items"),
      // @ts-expect-error -- there is no such API
      auth.proxyApi("ordrs"),
      // @ts-expect-error -- there is no such provider
      auth.proxyApi("orders", { provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.idpRequiredWith({ provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.loginUrl(raw, { provider: "stuff" }),
    ];
    expectTypeOf(wrong).toBeFunction();
  });

  it("Hono", () => {
    const auth = hono(two);
    expectTypeOf(auth).toEqualTypeOf<HonoIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<HonoIdpAuth>();
    const wrong = (raw: Parameters<typeof auth.getCredentials>[0]) => [
      // @ts-expect-error -- there is no such API
      auth.getAccessToken(raw, { api: "ordrs" }),
      // @ts-expect-error -- there is no such API
      auth.fetchApi(raw, "ordrs", "items"),
      // @ts-expect-error -- there is no such API
      auth.proxyApi("ordrs"),
      // @ts-expect-error -- there is no such provider
      auth.proxyApi("orders", { provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.idpRequiredWith({ provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.loginUrl(raw, { provider: "stuff" }),
    ];
    expectTypeOf(wrong).toBeFunction();
  });

  it("Koa", () => {
    const auth = koa(two);
    expectTypeOf(auth).toEqualTypeOf<KoaIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<KoaIdpAuth>();
    const wrong = (raw: Parameters<typeof auth.getCredentials>[0]) => [
      // @ts-expect-error -- there is no such API
      auth.getAccessToken(raw, { api: "ordrs" }),
      // @ts-expect-error -- there is no such API
      auth.fetchApi(raw, "ordrs", "items"),
      // @ts-expect-error -- there is no such API
      auth.proxyApi("ordrs"),
      // @ts-expect-error -- there is no such provider
      auth.proxyApi("orders", { provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.idpRequiredWith({ provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.loginUrl(raw, { provider: "stuff" }),
    ];
    expectTypeOf(wrong).toBeFunction();
  });

  it("node:http", () => {
    const auth = node(two);
    expectTypeOf(auth).toEqualTypeOf<NodeIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<NodeIdpAuth>();
    const wrong = (raw: Parameters<typeof auth.getCredentials>[0]) => [
      // @ts-expect-error -- there is no such API
      auth.getAccessToken(raw, { api: "ordrs" }),
      // @ts-expect-error -- there is no such API
      auth.fetchApi(raw, "ordrs", "items"),
      // @ts-expect-error -- there is no such API
      auth.proxyApi("ordrs"),
      // @ts-expect-error -- there is no such provider
      auth.proxyApi("orders", { provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.idpRequiredWith({ provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.loginUrl(raw, { provider: "stuff" }),
    ];
    expectTypeOf(wrong).toBeFunction();
  });

  it("fetch", () => {
    const auth = fetchStyle(two);
    expectTypeOf(auth).toEqualTypeOf<FetchIdpAuth<object, Data, Names>>();
    expectTypeOf(auth).toExtend<FetchIdpAuth>();
    const wrong = (raw: Parameters<typeof auth.getCredentials>[0]) => [
      // @ts-expect-error -- there is no such API
      auth.getAccessToken(raw, { api: "ordrs" }),
      // @ts-expect-error -- there is no such API
      auth.fetchApi(raw, "ordrs", "items"),
      // @ts-expect-error -- there is no such API
      auth.proxyApi("ordrs"),
      // @ts-expect-error -- there is no such provider
      auth.proxyApi("orders", { provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.idpRequiredWith({ provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.loginUrl(raw, { provider: "stuff" }),
      // @ts-expect-error -- there is no such provider
      auth.guard(raw, { provider: "stuff" }),
    ];
    expectTypeOf(wrong).toBeFunction();
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
