import { afterEach, describe, expect, it } from "vitest";
import { deny } from "../../src/index.js";
import { type Answer, type ApplicationOptions, type TestUser } from "../support/application.js";
import { settled } from "../../src/testing/settled.js";
import { application, start as startPlain, store } from "../support/one-application.js";

const ADA = { sub: "ada", email: "ada@example.com" };

/** What `onSignIn` does now. */
let decide: () => unknown;
afterEach(() => application.stop());

async function start(options: ApplicationOptions = {}): Promise<void> {
  decide = () => undefined;
  await startPlain({ onSignIn: () => decide() as undefined, ...options });
}

async function signedIn(): Promise<TestUser> {
  const user = application.user();
  await user.signIn(undefined, ADA);
  return user;
}

/** Whether the newest refresh token has been revoked, after all background work. */
async function isNewestRevoked(): Promise<boolean> {
  await settled(application.auth);
  const newest = application.provider.issued.findLast(
    ({ kind }) => kind === "refresh_token",
  )?.value;
  return application.provider
    .requestsTo("revoke")
    .some(({ params }) => params.get("token") === newest);
}

/** A sign-in during which the store stops responding, after the provider has issued the tokens. */
async function signInWithoutStore(user: TestUser): Promise<Answer> {
  const back = await user.approve(undefined, ADA);
  const hold = application.provider.hold("token", { before: false });
  const answer = user.get(back);
  await hold.arrived;
  store.isDown = true;
  hold.release();
  const answered = await answer;
  store.isDown = false;
  return answered;
}

type SignIn = (user: TestUser) => Promise<Answer>;

const REFUSALS: readonly (readonly [what: string, signIn: SignIn, status: number])[] = [
  [
    "deny()",
    (user) => {
      decide = () => deny();
      return user.signIn(undefined, ADA);
    },
    403,
  ],
  [
    "an ID token with another nonce",
    (user) => {
      application.provider.mutateIdToken = ({ claims }) => ({
        claims: { ...claims, nonce: "another" },
      });
      return user.signIn(undefined, ADA);
    },
    400,
  ],
  [
    "an ID token with a wrong signature",
    (user) => {
      application.provider.mutateIdToken = ({ header, claims, sign }) => {
        const [head, body, signature = ""] = sign(header, claims).split(".");
        return `${head ?? ""}.${body ?? ""}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
      };
      return user.signIn(undefined, ADA);
    },
    400,
  ],
  [
    "a hook that throws",
    (user) => {
      decide = () => {
        throw new Error("away");
      };
      return user.signIn(undefined, ADA);
    },
    503,
  ],
];
const OUTAGES: readonly (readonly [what: string, signIn: SignIn, status: number])[] = [
  [
    "an outage of the signing keys",
    async (user) => {
      await application.provider.rotateKeys({ keepOld: false });
      application.provider.fault("jwks", { kind: "reset" });
      return user.signIn(undefined, ADA);
    },
    503,
  ],
  ["an outage of the store", signInWithoutStore, 503],
];

describe("the tokens of a sign-in that fails by", () => {
  it.each([...REFUSALS, ...OUTAGES])(
    "%s are revoked, although the same user has signed in elsewhere a moment ago",
    async (_what, signIn, status) => {
      await start();
      await signedIn();
      expect((await signIn(application.user())).status).toBe(status);
      expect(await isNewestRevoked()).toBe(true);
    },
  );

  it.each(REFUSALS)(
    "%s are revoked, although the same user's session in this browser began a moment ago and stays",
    async (_what, signIn) => {
      await start();
      const user = await signedIn();
      await signIn(user);
      expect(await user.isSignedIn()).toBe(true);
      expect(await isNewestRevoked()).toBe(true);
    },
  );

  it.each(OUTAGES)(
    "%s are dropped if a session stays in this browser: some providers would end its grant too",
    async (_what, signIn, status) => {
      await start();
      const user = await signedIn();
      application.clock.advance(60_000);
      expect((await signIn(user)).status).toBe(status);
      expect(await user.isSignedIn()).toBe(true);
      expect(await isNewestRevoked()).toBe(false);
    },
  );

  it("deny() stay valid if revocation is off", async () => {
    await start({ tokenRevokeOnLogout: false, onSignIn: () => deny() });
    await application.user().signIn(undefined, ADA);
    expect(await isNewestRevoked()).toBe(false);
  });
});

describe("the tokens of a sign-in that a logout overtakes", () => {
  /** The user logs out while the provider issues the tokens. */
  async function overtaken(): Promise<void> {
    const user = application.user();
    const back = await user.approve(undefined, ADA);
    const hold = application.provider.hold("token", { before: false });
    const answer = user.at(application.auth).get(back);
    await hold.arrived;
    await user.get("/idpauth/logout/");
    hold.release();
    expect((await answer).status).toBe(400);
  }

  it("are revoked", async () => {
    await start();
    await signedIn();
    application.clock.advance(6_000);
    await overtaken();
    expect(await isNewestRevoked()).toBe(true);
  });

  it("are dropped if the same user has signed in since five seconds before", async () => {
    await start();
    await signedIn();
    application.clock.advance(4_000);
    await overtaken();
    expect(await isNewestRevoked()).toBe(false);
  });
});
