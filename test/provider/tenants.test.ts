import { beforeEach, describe, expect, it } from "vitest";
import { issuerTemplate } from "../../src/config/tenant-issuers.js";
import type { Provider } from "../../src/ports/provider.js";
import type { SignIn, Identity } from "../../src/record/credentials.js";
import { tenantsOf } from "../../src/provider/allowed-tenants.js";
import { recordOf, refused, rejection, SESSION, unavailable } from "./rig.js";
import { rig, shareRig } from "./shared-rig.js";

const TENANT = "11111111-2222-4333-8444-555555555555";
const OTHER = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
const PERSONAL = "9188040d-6c67-4c5b-b112-36a304b66dad";
const MICROSOFT = "https://login.microsoftonline.com";

let provider: Provider;

shareRig({ tenant: TENANT });
beforeEach(() => {
  provider = rig.settingsWith({ allowedTenants: [TENANT] });
});

const never = new AbortController().signal;
const issuerOf = (tenant: string) => `${new URL(rig.idp.issuer).origin}/${tenant}/v2.0`;
const template = () => issuerOf("{tenantid}");
const messages = () => rig.logged.map(({ message }) => message);

/** Signs in with other claims in the ID token. */
async function signInWith(
  changes: Readonly<Record<string, unknown>>,
  by = provider,
): Promise<SignIn> {
  rig.idp.mutateIdToken = ({ claims }) => ({ claims: { ...claims, ...changes } });
  return rig.exchange(by);
}

async function renew(signedIn: SignIn, by = provider): Promise<Identity> {
  const request = {
    refreshToken: signedIn.credentials.refresh_token ?? "",
    session: SESSION,
    signal: never,
  };
  return by.verifyRefreshed(await by.refresh(request), recordOf(signedIn), request);
}

function refreshWithoutIdToken(): void {
  rig.idp.tokenResponse = ({ id_token, ...response }, request) =>
    request.params.get("grant_type") === "refresh_token" ? response : { ...response, id_token };
}

describe("the issuer in the discovery document", () => {
  it.each([
    [`${MICROSOFT}/organizations/v2.0`, `${MICROSOFT}/{tenantid}/v2.0`],
    [`${MICROSOFT}/common/v2.0`, `${MICROSOFT}/{tenantid}/v2.0`],
    [
      "https://login.microsoftonline.us/common/v2.0",
      "https://login.microsoftonline.us/{tenantid}/v2.0",
    ],
    ["http://127.0.0.1:9400/organizations/v2.0", "http://127.0.0.1:9400/{tenantid}/v2.0"],
    [`${MICROSOFT}/common/v2.0/`, undefined],
    [`${MICROSOFT}/common`, undefined],
    [`${MICROSOFT}/Common/v2.0`, undefined],
    [`${MICROSOFT}/consumers/v2.0`, undefined],
    [`${MICROSOFT}/${TENANT}/v2.0`, undefined],
    [`${MICROSOFT}/x/../common/v2.0`, undefined],
    ["https://LOGIN.microsoftonline.com/common/v2.0", undefined],
    ["https://login.example/realms/common/v2.0", undefined],
    ["not an address", undefined],
  ])("of %s is %s", (issuer, expected) => {
    expect(issuerTemplate(issuer)).toBe(expected);
  });

  it.each([
    ["the issuer that was asked for", () => rig.idp.issuer],
    ["the issuer of a tenant", () => issuerOf(TENANT)],
    ["a template on another server", () => `${MICROSOFT}/{tenantid}/v2.0`],
    ["a template with other words", () => issuerOf("{tenant}")],
    ["a list", () => [template()]],
    ["nothing", () => undefined],
  ])("must be the literal template: not %s", async (_name, issuer) => {
    rig.idp.discoveryDocument = (document) => ({ ...document, issuer: issuer() });
    await expect(provider.facts()).rejects.toMatchObject({ code: "provider_misconfigured" });
    expect(messages().join()).toMatch(/The issuer in the discovery document is/);
  });

  it("of another address may not be a template, and the log says what to set", async () => {
    rig.idp.settings.tenant = undefined;
    rig.idp.discoveryDocument = (document) => ({ ...document, issuer: template() });
    const single = rig.settingsWith({ allowedTenants: null });
    await expect(single.facts()).rejects.toMatchObject({
      code: "provider_misconfigured",
      reason: "issuer_template",
    });
    expect(messages()).toEqual([
      expect.stringMatching(/set IDP_ISSUER to exactly .*IDP_ALLOWED_TENANTS/),
    ]);
  });
});

describe("an ID token of a provider with several tenants", () => {
  it("has the issuer of its own tenant", async () => {
    const { idInfo } = await rig.exchange(provider);
    expect(idInfo).toMatchObject({ iss: issuerOf(TENANT), tid: TENANT });
  });

  it.each<[string, () => Readonly<Record<string, unknown>>, string]>([
    [
      "another tenant, which is not allowed",
      () => ({ tid: OTHER, iss: issuerOf(OTHER) }),
      "id_token_tenant",
    ],
    ["an allowed issuer, but the tid of another tenant", () => ({ tid: OTHER }), "id_token_tenant"],
    ["no tid", () => ({ tid: undefined }), "id_token_tid"],
    [
      "a tid that is no GUID",
      () => ({ tid: "organizations", iss: issuerOf("organizations") }),
      "id_token_tid",
    ],
    [
      "a tid with a line break",
      () => ({ tid: `${TENANT}\n`, iss: issuerOf(`${TENANT}\n`) }),
      "id_token_tid",
    ],
    [
      "a tid in upper case",
      () => ({ tid: OTHER.toUpperCase(), iss: issuerOf(OTHER.toUpperCase()) }),
      "id_token_tid",
    ],
    ["a tid that is a list", () => ({ tid: [TENANT] }), "id_token_tid"],
    [
      "a tid that is the placeholder",
      () => ({ tid: "{tenantid}", iss: template() }),
      "id_token_tid",
    ],
    ["a tid with a pattern of replace", () => ({ tid: "$&", iss: template() }), "id_token_tid"],
  ])("is refused with %s", async (_name, changes, reason) => {
    expect(await rejection(signInWith(changes()))).toBe(refused(reason));
  });

  it.each<[string, () => Readonly<Record<string, unknown>>]>([
    ["another tenant's", () => ({ iss: issuerOf(OTHER) })],
    ["the template", () => ({ iss: template() })],
    ["the address of all tenants", () => ({ iss: rig.idp.issuer })],
    ["its tenant's on another server", () => ({ iss: `${MICROSOFT}/${TENANT}/v2.0` })],
  ])("is not accepted with another issuer than its tenant's: %s", async (_name, changes) => {
    expect(await rejection(signInWith(changes()))).toBe(unavailable("id_token_iss"));
  });

  it.each([
    ["any", OTHER],
    ["any", PERSONAL],
    [[TENANT, OTHER], OTHER],
  ] as const)(
    "with IDP_ALLOWED_TENANTS %j may be of the tenant %s",
    async (allowedTenants, tid) => {
      const { idInfo } = await signInWith(
        { tid, iss: issuerOf(tid) },
        rig.settingsWith({ allowedTenants }),
      );
      expect(idInfo).toMatchObject({ tid, iss: issuerOf(tid) });
    },
  );

  it("with IDP_ALLOWED_TENANTS any still needs a tid that its issuer contains", async () => {
    const any = rig.settingsWith({ allowedTenants: "any" });
    expect(await rejection(signInWith({ tid: OTHER }, any))).toBe(unavailable("id_token_iss"));
    expect(await rejection(signInWith({ tid: undefined }, any))).toBe(refused("id_token_tid"));
    expect(await rejection(signInWith({ tid: "common", iss: issuerOf("common") }, any))).toBe(
      refused("id_token_tid"),
    );
  });
});

describe("a signing key's own issuer", () => {
  const publish = (issuer: unknown) => {
    rig.idp.jwks.publish({ keys: rig.idp.jwks.document().keys.map((key) => ({ ...key, issuer })) });
  };

  it.each([
    ["absent", () => undefined],
    ["the template", template],
    ["the token's tenant", () => issuerOf(TENANT)],
  ])("may be %s", async (_name, issuer) => {
    publish(issuer());
    expect((await rig.exchange(provider)).idInfo).toMatchObject({ tid: TENANT });
  });

  it.each<[string, () => unknown]>([
    ["another tenant's", () => issuerOf(OTHER)],
    ["the personal accounts'", () => issuerOf(PERSONAL)],
    ["the address of all tenants", () => rig.idp.issuer],
    ["a list with the right one", () => [issuerOf(TENANT)]],
    ["null", () => null],
    ["empty", () => ""],
  ])("may not be %s: the token counts as not signed", async (_name, issuer) => {
    publish(issuer());
    expect(await rejection(rig.exchange(provider))).toBe(refused("id_token_signature"));
  });

  it("is ignored for a provider with one issuer", async () => {
    rig.idp.settings.tenant = undefined;
    publish(issuerOf(OTHER));
    expect((await rig.exchange(rig.settingsWith({ allowedTenants: null }))).idInfo).toMatchObject({
      iss: rig.idp.issuer,
    });
  });

  it("decides between two keys of one name", async () => {
    const [key] = rig.idp.jwks.document().keys;
    rig.idp.jwks.publish({
      keys: [
        { ...key, issuer: issuerOf(OTHER) },
        { ...key, issuer: template() },
      ],
    });
    expect((await rig.exchange(provider)).idInfo).toMatchObject({ tid: TENANT });
  });
});

describe.each([
  ["with an ID token", () => undefined],
  ["without an ID token", refreshWithoutIdToken],
])("a refresh %s", (_name, prepare) => {
  beforeEach(prepare);

  it("keeps the tenant and its issuer", async () => {
    expect((await renew(await rig.exchange(provider))).idInfo).toMatchObject({
      tid: TENANT,
      iss: issuerOf(TENANT),
    });
  });

  it("is refused if the tenant is not allowed any more", async () => {
    const signedIn = await rig.exchange(provider);
    expect(await rejection(renew(signedIn, rig.settingsWith({ allowedTenants: [OTHER] })))).toBe(
      refused("id_token_tenant"),
    );
  });

  it("is refused if the stored claims have no tenant", async () => {
    const signedIn = await rig.exchange(provider);
    const { tid: _tid, ...idInfo } = signedIn.idInfo;
    expect(await rejection(renew({ ...signedIn, idInfo }))).toBe(refused("id_token_tid"));
    expect(
      await rejection(
        renew({
          ...(await rig.exchange(provider)),
          idInfo: { ...signedIn.idInfo, iss: template() },
        }),
      ),
    ).toBe(refused("id_token_iss"));
  });
});

it("a refresh does not change the tenant, even to another that is allowed", async () => {
  const both = rig.settingsWith({ allowedTenants: [TENANT, OTHER] });
  const signedIn = await rig.exchange(both);
  rig.idp.mutateIdToken = ({ claims }) => ({
    claims: { ...claims, tid: OTHER, iss: issuerOf(OTHER) },
  });
  expect(await rejection(renew(signedIn, both))).toBe(refused("id_token_iss"));
});

it("a wrong tenant is refused while the keys cannot be fetched, a correct one is an outage", async () => {
  rig.idp.fault("jwks", { kind: "reset" });
  expect(await rejection(signInWith({ tid: OTHER, iss: issuerOf(OTHER) }))).toBe(
    refused("id_token_tenant"),
  );
  expect(await rejection(signInWith({}))).toBe(unavailable("jwks"));
});

describe("iss of an authorization response", () => {
  const tenants = tenantsOf({
    issuer: `${MICROSOFT}/organizations/v2.0`,
    allowedTenants: [TENANT],
  });

  it.each([
    [`${MICROSOFT}/{tenantid}/v2.0`, true],
    [`${MICROSOFT}/${TENANT}/v2.0`, true],
    [`${MICROSOFT}/${OTHER}/v2.0`, false],
    [`${MICROSOFT}/organizations/v2.0`, false],
    [`${MICROSOFT}//v2.0`, false],
    [`${MICROSOFT}/v2.0`, false],
    [`https://evil.example/${TENANT}/v2.0`, false],
    [`${MICROSOFT}/${TENANT}/v2.0/`, false],
    ["", false],
  ])("%s: %s", (iss, expected) => {
    expect(tenants?.isResponseIssuer(iss)).toBe(expected);
  });

  it("is compared with IDP_ISSUER at a provider with one issuer", () => {
    expect(tenantsOf({ issuer: "https://login.example", allowedTenants: null })).toBeUndefined();
    expect(tenantsOf({ issuer: "https://login.example", allowedTenants: "any" })).toBeUndefined();
    expect(tenantsOf({ issuer: `${MICROSOFT}/common/v2.0`, allowedTenants: null })).toBeUndefined();
  });
});
