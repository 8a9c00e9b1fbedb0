import { expect, it } from "vitest";
import { Owners, SessionOwner } from "../../src/access/session-owner.js";
import type { Registration } from "../../src/ports/registration.js";
import type { SessionRecord } from "../../src/record/record.js";

const registration = (key: string | undefined, clientId: string) =>
  ({ key, clientId, issuer: "https://op.example" }) as Registration;

const signedInAt = (clientId: string): SessionRecord => ({
  credentials: {
    token: "t",
    token_uri: "u",
    client_id: clientId,
    client_secret: "s",
    scopes: [],
  },
  id_info: { iss: "https://op.example/tenant", sub: "s" },
  idp_state: { v: 1, issuer: "https://op.example" },
});

it("a session belongs to the registration whose client signed the user in", () => {
  const [staff, customers] = [registration("staff", "a"), registration("customers", "b")];
  const owner = new SessionOwner(signedInAt("b"), [staff, customers]);
  expect([owner.registration, owner.provider, owner.identity]).toEqual([
    customers,
    "customers",
    { provider: "customers", issuer: "https://op.example/tenant", subject: "s" },
  ]);
});

it("the only provider of an application has no key", () => {
  const owner = new SessionOwner(signedInAt("a"), [registration(undefined, "a")]);
  expect([owner.provider, owner.identity]).toEqual([
    undefined,
    { issuer: "https://op.example/tenant", subject: "s" },
  ]);
});

it("a record of an older release, which has no issuer, belongs to the registration of its client", () => {
  const registrations = [registration("staff", "a"), registration("customers", "b")];
  const owner = new SessionOwner({ ...signedInAt("b"), idp_state: { v: 1 } }, registrations);
  expect(owner.provider).toBe("customers");
});

it("a session of another issuer belongs to nobody, though its client has the same id", () => {
  const record = {
    ...signedInAt("a"),
    idp_state: { v: 1, issuer: "https://other.example" },
  } as const;
  expect(new SessionOwner(record, [registration("staff", "a")]).registration).toBeUndefined();
});

it.each([[undefined], [{ idp_state: { v: 1 } } satisfies SessionRecord]])(
  "%j belongs to nobody",
  (record) => {
    const owner = new SessionOwner(record, [registration("staff", "a")]);
    expect([owner.registration, owner.identity]).toEqual([undefined, {}]);
  },
);

it("an event names the provider of an issuer, unless two share it", () => {
  const [staff, customers] = [registration("staff", "a"), registration("customers", "b")];
  const iss = "https://op.example";
  const about = { issuer: iss, subject: "ada" };
  expect(new Owners([staff]).identityOf(iss, "ada")).toEqual({ provider: "staff", ...about });
  expect(new Owners([staff, customers]).identityOf(iss, "ada")).toEqual(about);
  expect(new Owners([staff]).identityOf("https://other.example", undefined)).toEqual({
    issuer: "https://other.example",
  });
});
