import { afterEach, expect, it, vi } from "vitest";
import { deny, hasClaim, type IdpAuthOptions, type RefreshResult } from "../../src/index.js";
import { type ApplicationOptions } from "../support/application.js";
import { PATIENCE } from "../support/eventually.js";
import { settled } from "../../src/testing/settled.js";
import { application, sealing, startOver } from "../support/one-application.js";

const start = (options: ApplicationOptions) => startOver(sealing, options);

afterEach(() => application.stop());

function schema(
  run: (claims: Record<string, unknown>) => object,
): NonNullable<IdpAuthOptions["claims"]> {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => ({ value: run(value as Record<string, unknown>) }),
    },
  };
}

it("a group that a refresh in a process without a schema removed lets nobody pass, in any process", async () => {
  const isAdmin = { allow: hasClaim("groups", "admin") };
  await start({ provider: { person: { sub: "ada", groups: ["admin"] } } });
  const withSchema = application.another({ claims: schema(({ groups }) => ({ groups })) });
  const user = application.user();
  await user.signIn();
  expect(await withSchema.guard(user.request("/"), isAdmin)).toBeUndefined();
  application.provider.mutateIdToken = ({ claims }) => ({
    claims: { ...claims, groups: ["user"] },
  });
  application.clock.advance(3_601_000);
  expect((await application.auth.guard(user.request("/"), isAdmin))?.kind).toBe("forbidden");
  expect((await withSchema.guard(user.request("/"), isAdmin))?.kind).toBe("forbidden");
});

it("a logout while onSignIn runs wins: no session, and the tokens are revoked", async () => {
  let finish: (() => void) | undefined;
  await start({
    onSignIn: () =>
      new Promise<undefined>((resolve) => {
        finish = () => {
          resolve(undefined);
        };
      }),
  });
  const user = application.user();
  const back = await user.approve();
  const callback = user.at(application.auth);
  const reply = callback.get(back);
  await vi.waitFor(() => {
    expect(finish).toBeDefined();
  }, PATIENCE);
  await user.get("/idpauth/logout/");
  finish?.();
  expect((await reply).status).toBe(400);
  expect(await callback.isSignedIn()).toBe(false);
  await settled(application.auth);
  expect(application.provider.requestsTo("revoke")).toHaveLength(1);
});

it("while onRefresh decides, no process lets the user pass; after a denial none does, and no change of the data counts", async () => {
  const decisions: ((decision: RefreshResult<Record<string, unknown>>) => void)[] = [];
  await start({ onRefresh: () => new Promise((resolve) => decisions.push(resolve)) });
  const user = application.user();
  await user.signIn();
  application.clock.advance(3_601_000);
  const probe = user.get("/idpauth/session?details=true");
  await vi.waitFor(() => {
    expect(decisions).toHaveLength(1);
  }, PATIENCE);
  const withoutHooks = application.another({ onRefresh: () => undefined });
  expect(await withoutHooks.checkIdpAuthentication(user.request("/"))).toBe(false);
  const update = application.auth.updateData(user.request("/"), () => ({ late: true }));
  decisions[0]?.(deny());
  expect((await probe).json()).toMatchObject({ authenticated: false, reason: "denied" });
  expect(await update).toBeNull();
  for (const auth of [application.auth, withoutHooks]) {
    expect(await auth.getSession(user.request("/"))).toBeNull();
    expect(await auth.getAccessToken(user.request("/"))).toBeNull();
  }
  expect(decisions).toHaveLength(1);
});

it("neither a schema's output nor a weaker login makes an authentication recent or strong", async () => {
  const forged = { auth_time: 99_999_999_999, acr: "gold", acrs: ["gold"] };
  await start({
    claims: schema((claims) => ({ ...claims, ...forged })),
    provider: { acrValues: ["bronze", "gold"] },
  });
  const user = application.user();
  const needs = async (rule: object) =>
    (await application.auth.guard(user.request("/"), rule))?.kind;
  await user.signIn();
  expect([await needs({ maxAge: 60 }), await needs({ acr: "gold" })]).toEqual(["stepUp", "stepUp"]);
  await user.signIn("/idpauth/login/?acr_values=bronze&max_age=999999999");
  expect([await needs({ acr: "bronze" }), await needs({ acr: "gold" })]).toEqual([
    undefined,
    "stepUp",
  ]);
});
