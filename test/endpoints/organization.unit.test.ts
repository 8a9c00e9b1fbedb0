import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { SessionRequest } from "../../src/access/session-request.js";
import type { EndpointRegistration } from "../../src/endpoints/context.js";
import {
  findOrganization,
  loginQuery,
  organizationFor,
  organizationSlots,
} from "../../src/endpoints/organization.js";
import { ProviderUnavailableError } from "../../src/errors.js";
import { createPages } from "../../src/pages/pages.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { tagsOf, textOf } from "../pages/tags.js";

function search(findByEmailDomain: (domain: string) => unknown, clock = new TestClock()) {
  return { findByEmailDomain, slots: organizationSlots(clock), clock };
}

/** The domains that the application is asked for. */
async function askedFor(email: string): Promise<string[]> {
  const asked: string[] = [];
  const found = await findOrganization(
    email,
    search((domain) => (asked.push(domain), "acme")),
  );
  expect(found.kind).toBe(asked.length === 1 ? "found" : "unknown");
  return asked;
}

describe("the organization of an email address", () => {
  it.each([
    ["ada@acme.com", "acme.com"],
    ["  Ada.Lovelace+work@ACME.Com\n", "acme.com"],
    ["ada@Müller.example", "xn--mller-kva.example"],
    ["ada@mu\u0308ller.example", "xn--mller-kva.example"],
    ["ada@ａｃｍｅ.com", "acme.com"],
    ["ada@acme。com", "acme.com"],
    ["ädä@sub.acme.co.uk", "sub.acme.co.uk"],
    ["ada@localhost", "localhost"],
  ])("is found for %j by the domain %s", async (email, domain) => {
    expect(await askedFor(email)).toEqual([domain]);
  });

  it.each([
    "",
    " ",
    "acme.com",
    "@acme.com",
    "ada@",
    "ada@@acme.com",
    "ada@globex.com@acme.com",
    '"a@b"@acme.com',
    "a b@acme.com",
    "a\tb@acme.com",
    "a\u0000b@acme.com",
    "a\u202eb@acme.com",
    "ada\ud800@acme.com",
    "ada@acme.com.",
    "ada@.acme.com",
    "ada@acme..com",
    "ada@-acme.com",
    "ada@acme-.com",
    "ada@acme_.com",
    "ada@acme com",
    "ada@acme\n.com",
    "ada@acme\u00ad.com",
    "ada@acme.com:443",
    "ada@acme.com/x",
    "ada@acme.com\\x",
    "ada@acme.com?x",
    "ada@acme.com#x",
    "ada@acme／x.com",
    "ada@acme＃x.com",
    "ada@%61cme.com",
    "ada@[10.0.0.1]",
    "ada@[::1]",
    "ada@10.0.0.1",
    "ada@127.1",
    "ada@0x7f.1",
    "ada@2130706433",
    "ada@１２７.0.0.1",
    `${"a".repeat(65)}@acme.com`,
    `ada@${"a".repeat(64)}.com`,
    `ada@${"a.".repeat(130)}com`,
    `${"a".repeat(50)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(30)}`,
    "<ada@acme.com>",
    "ada@acme.com,bob@globex.com",
    "javascript:alert(1)",
  ])("is unknown for %j, and the application isn't called", async (email) => {
    expect(await askedFor(email)).toEqual([]);
  });

  it("is looked up by a domain of lowercase ASCII only, whatever the user enters", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.tuple(text, text, text), async ([local, one, other]) => {
        for (const domain of await askedFor(`${local}@${one}.${other}`))
          expect(domain).toMatch(/^(?!.*\.$)[a-z0-9][a-z0-9.-]{0,252}$/);
      }),
      { numRuns: 300 },
    );
  });

  it("comes with the address as the user entered it", async () => {
    expect(
      await findOrganization(
        " Ada@Müller.example ",
        search(() => "acme"),
      ),
    ).toEqual({
      kind: "found",
      key: "acme",
      loginHint: "Ada@Müller.example",
    });
    expect(
      await findOrganization(
        "ada@acme.com",
        search(() => Promise.resolve("acme")),
      ),
    ).toEqual(expect.objectContaining({ key: "acme" }));
  });

  it("has a key of at most 63 characters", async () => {
    const key = "a".repeat(63);
    expect(
      await findOrganization(
        "ada@acme.com",
        search(() => key),
      ),
    ).toMatchObject({ key });
  });

  it.each([
    undefined,
    null,
    "",
    "a".repeat(64),
    "Acme",
    "acme/../x",
    "a b",
    "acme\n",
    5,
    {},
    ["acme"],
  ])("is unknown if the application returns %j", async (value) => {
    expect(
      await findOrganization(
        "ada@acme.com",
        search(() => value),
      ),
    ).toEqual({
      kind: "unknown",
    });
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("ada@acme.com");
      },
    ],
    ["rejects", () => Promise.reject(new Error("ada@acme.com"))],
  ])("is an outage if the application %s, with its error as the cause only", async (_how, find) => {
    const error: unknown = await findOrganization("ada@acme.com", search(find)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ProviderUnavailableError);
    expect(error).toMatchObject({
      status: 503,
      reason: "provider_source",
      cause: new Error("ada@acme.com"),
    });
    expect((error as Error).message).not.toContain("acme");
  });

  it("is an outage if the application takes more than 5 seconds, and the slot is free again", async () => {
    const clock = new TestClock();
    const find = vi.fn<() => unknown>(() => new Promise(() => undefined));
    const options = search(find, clock);
    const hanging = Array.from({ length: 16 }, () =>
      findOrganization("ada@acme.com", options).catch((error: unknown) => error),
    );
    await turn();
    expect(find).toHaveBeenCalledTimes(16);
    clock.advance(4_999);
    find.mockReturnValue("acme");
    const next = findOrganization("ada@acme.com", options);
    await turn();
    expect(find).toHaveBeenCalledTimes(16);
    clock.advance(1);
    for (const error of await Promise.all(hanging))
      expect(error).toMatchObject({ status: 503, reason: "provider_source" });
    expect(await next).toMatchObject({ kind: "found", key: "acme" });
  });

  it("is an outage at once beyond 16 calls and the 800 that wait for them", async () => {
    const clock = new TestClock();
    const find = vi.fn(() => new Promise(() => undefined));
    const options = search(find, clock);
    for (let call = 0; call < 816; call += 1)
      void findOrganization("ada@acme.com", options).catch(() => undefined);
    await expect(findOrganization("ada@acme.com", options)).rejects.toMatchObject({
      status: 503,
      reason: "provider_source",
    });
    expect(find).toHaveBeenCalledTimes(16);
    // An address without a domain takes no slot.
    expect(await findOrganization("ada", options)).toEqual({ kind: "unknown" });
  });
});

it("the login at the organization's provider keeps the form's fields, except those that the address decides", () => {
  const fields = new URLSearchParams(
    "scheme=DEFAULT&origin_url=%2Fa&email=x&provider=evil&provider=more&iss=y&login_hint=mallory&cross_site=true",
  );
  const found = { kind: "found", key: "acme", loginHint: "ada+1@acme.com" } as const;
  expect(loginQuery(fields, found).toString()).toBe(
    "provider=acme&scheme=DEFAULT&origin_url=%2Fa&cross_site=true&login_hint=ada%2B1%40acme.com",
  );
});

describe("a login without a provider", () => {
  const request = {
    method: "GET",
    target: "/idpauth/login/",
    scheme: "https",
    host: "app.example",
    header: () => undefined,
  } as const;
  const opened = { request } as unknown as SessionRequest;
  const pages = createPages({
    publicPath: "/idpauth/",
    address: { baseUrl: "https://app.example", trustProxy: false },
  });
  const staff = { key: "staff", name: "Staff" } as EndpointRegistration;
  const kept = [
    ["scheme", "PRESERVE_ORIGIN_QP"],
    ["login_hint", "ada@acme.com"],
    ["origin_url", "/a?b&c"],
  ] as const;

  it("gets a page that posts the address with what the login keeps, and links to the listed providers", async () => {
    const question = { kept, providers: [staff], isJson: false };
    const { status, body = "" } = await organizationFor(opened, { pages }, question);
    expect(status).toBe(200);
    const tags = tagsOf(body);
    const inputs = tags
      .filter(({ name }) => name === "input")
      .map(({ attributes }) => [attributes.get("name"), attributes.get("value")]);
    expect(inputs).toEqual([
      ["scheme", "PRESERVE_ORIGIN_QP"],
      ["origin_url", "/a?b&c"],
      ["email", "ada@acme.com"],
    ]);
    expect(
      tags
        .find(
          ({ attributes }) => attributes.has("href") && attributes.get("class") === "button quiet",
        )
        ?.attributes.get("href"),
    ).toBe(
      "/idpauth/login/?provider=staff&scheme=PRESERVE_ORIGIN_QP&login_hint=ada%40acme.com&origin_url=%2Fa%3Fb%26c",
    );
  });

  it("gets the page again after an unknown address, which it shows", async () => {
    const question = { kept, providers: [], isJson: false, unknown: "bob@globex.com" };
    const { status, body = "" } = await organizationFor(opened, { pages }, question);
    expect(status).toBe(200);
    expect(textOf(body)).toContain("We don't know this organization.");
    expect(
      tagsOf(body)
        .find(({ attributes }) => attributes.get("name") === "email")
        ?.attributes.get("value"),
    ).toBe("bob@globex.com");
  });

  it("doesn't show a hint that isn't an email address", async () => {
    const question = { kept: [["login_hint", "ada"]] as const, providers: [], isJson: false };
    const { body = "" } = await organizationFor(opened, { pages }, question);
    expect(body).not.toContain('value="ada"');
  });

  it.each([
    [undefined, {}],
    ["bob@globex.com", { reason: "organization_unknown" }],
  ])(
    "by a script gets 400 with the parameters that it can send, after the address %j",
    async (unknown, more) => {
      const question = { kept, providers: [staff], isJson: true };
      const { status, body = "" } = await organizationFor(
        opened,
        { pages },
        {
          ...question,
          ...(unknown !== undefined && { unknown }),
        },
      );
      expect(status).toBe(400);
      expect(JSON.parse(body)).toMatchObject({
        code: "provider_required",
        parameters: ["provider", "email"],
        providers: [
          {
            key: "staff",
            name: "Staff",
            login_url:
              "/idpauth/login/?provider=staff&scheme=PRESERVE_ORIGIN_QP&login_hint=ada%40acme.com&origin_url=%2Fa%3Fb%26c",
          },
        ],
        ...more,
      });
      expect(body).not.toContain("bob@");
      expect(body.includes("organization_unknown")).toBe(unknown !== undefined);
    },
  );
});
