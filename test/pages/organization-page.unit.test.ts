import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layout } from "../../src/pages/layout.js";
import { organizationPage, type OrganizationModel } from "../../src/pages/organization-page.js";
import type { PageDescription } from "../../src/pages/page-description.js";
import { createPages } from "../../src/pages/pages.js";
import { expectOrderlyPage } from "./expect-orderly-page.js";
import { organizationStates } from "./states.mjs";
import { tagsOf, textOf } from "./tags.js";
import { textsIn } from "./texts-in.js";

const publicPath = "/idpauth/";
const question: OrganizationModel = { publicPath, kept: [], providers: [] };

function documentOf(model: OrganizationModel): string {
  const { title, main } = organizationPage(model, textsIn("en"));
  return layout({ publicPath, title, main });
}

function attributesOf(page: string, name: string, value: string): Record<string, string> {
  const tag = tagsOf(page).find(({ attributes }) => attributes.get(name) === value);
  return Object.fromEntries(tag?.attributes ?? []);
}

const request = {
  method: "GET",
  target: "/idpauth/login/",
  scheme: "https",
  host: "app.example",
  header: () => undefined,
} as const;
const address = { baseUrl: "https://app.example", trustProxy: false };

it.each(Object.entries(organizationStates))(
  "%s is one well-formed page without anything inline, with one form",
  (_name, model) => {
    expectOrderlyPage(documentOf(model), 1);
  },
);

describe("the page that asks for the email address", () => {
  it("says why, and posts the address to the login", () => {
    const page = documentOf(question);
    expect(textOf(page)).toContain(
      "Sign in with your organization Your organization decides how you sign in. Work email address Continue",
    );
    expect(attributesOf(page, "method", "post")).toMatchObject({ action: "/idpauth/login/" });
    expect(attributesOf(page, "name", "email")).toEqual({
      id: "email",
      type: "email",
      name: "email",
      value: "",
      dir: "ltr",
      autocomplete: "email",
      inputmode: "email",
      spellcheck: "false",
      required: "",
      maxlength: "254",
      "aria-describedby": "explanation",
    });
    expect(attributesOf(page, "for", "email")).toEqual({ for: "email" });
  });

  it("has the login's parameters as hidden fields, also a repeated one", () => {
    const kept = [
      ["origin_url", '/?a="<&'],
      ["origin_url", "/b"],
    ] as const;
    const hidden = tagsOf(documentOf({ ...question, kept })).filter(
      ({ attributes }) => attributes.get("type") === "hidden",
    );
    expect(
      hidden.map(({ attributes }) => [attributes.get("name"), attributes.get("value")]),
    ).toEqual(kept);
  });

  it("after an unknown address says what to do, at the field, which has the focus", () => {
    const page = documentOf({ ...question, email: "ada@acme.com", isUnknown: true });
    expect(page).toContain(
      "<title>Organization not found – Sign in with your organization</title>",
    );
    expect(attributesOf(page, "name", "email")).toMatchObject({
      value: "ada@acme.com",
      "aria-invalid": "true",
      "aria-describedby": "error explanation",
      autofocus: "",
    });
    expect(attributesOf(page, "id", "error")).toMatchObject({ role: "alert" });
    expect(textOf(page)).toContain(
      "We don't know this organization. Check the address for typing errors, or ask your administrator whether your organization uses this application.",
    );
  });

  it("shows at most as much of an address as the field takes", () => {
    const page = documentOf({ ...question, email: "a".repeat(9_000) });
    expect(attributesOf(page, "name", "email")["value"]).toHaveLength(254);
  });

  it("has the same tags whatever the address and the parameters are", () => {
    const shape = (text: string) =>
      tagsOf(documentOf({ ...question, kept: [[text, text]], email: text })).map(
        ({ name, end, attributes }) => [name, end, [...attributes.keys()]],
      );
    const benign = shape("a");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(shape(text)).toEqual(benign);
      }),
      { numRuns: 100 },
    );
  });

  it("offers the listed providers under a heading of their own", () => {
    const providers = [{ key: "staff", name: "\u202e ", href: "/idpauth/login/?provider=staff" }];
    const page = documentOf({ ...question, providers });
    expect(textOf(page)).toMatch(/Continue Other ways to sign in staff/);
    expect(documentOf(question)).not.toContain("<nav");
  });
});

it("the policy lets the form lead to a provider, and images load only for icons", async () => {
  const pages = createPages({ publicPath, address });
  const providers = [{ key: "a", name: "A", href: "/idpauth/login/?provider=a", icon: "/a.svg" }];
  const { headers } = await pages.organization({ kept: [], providers }, request);
  const policy = headers["Content-Security-Policy"]?.split("; ");
  // Browsers apply it to the redirects that follow: to the login, and from there to the provider.
  expect(policy).toContain("form-action http: https:");
  expect(policy).toContain("img-src https://app.example/a.svg");
  expect(headers["Referrer-Policy"]).toBe("same-origin");
});

it("an application that writes the page gets the form with everything in it", async () => {
  const described: PageDescription[] = [];
  const options = { render: (page: PageDescription) => void described.push(page) };
  const pages = createPages({ publicPath, address, options });
  const provider = { key: "staff", name: "Staff", href: "/idpauth/login/?provider=staff" };
  await pages.organization(
    { kept: [["scheme", "DEFAULT"]], providers: [provider], email: "a@b.c", isUnknown: true },
    request,
  );
  expect(described[0]).toMatchObject({
    kind: "organization",
    status: 200,
    heading: "Sign in with your organization",
    texts: ["Your organization decides how you sign in."],
    emailForm: {
      label: "Continue",
      href: "/idpauth/login/",
      fields: [["scheme", "DEFAULT"]],
      fieldLabel: "Work email address",
      value: "a@b.c",
      error: expect.stringContaining("We don't know this organization.") as string,
    },
    providers: [provider],
  });
});
