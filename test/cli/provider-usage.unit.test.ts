import { describe, expect, it } from "vitest";
import { readProviderUsage } from "../../src/cli/provider/provider-usage.js";

const SEVERAL = "--providers=staff,customers";

function providersOf(argv: readonly string[]) {
  const usage = readProviderUsage(argv);
  if ("mistake" in usage) throw new Error(usage.mistake);
  return usage.providers;
}

describe("the options of several providers", () => {
  it("apply to all of them, unless a key is in front", () => {
    const argv = [SEVERAL, "--consent", "--token-seconds=60", "--staff.token-seconds", "5"];
    expect(providersOf(argv)).toMatchObject([
      { key: "staff", consent: true, tokenSeconds: 5, client: "secret" },
      { key: "customers", consent: true, tokenSeconds: 60, client: "secret" },
    ]);
  });

  it("replace the list of all, if they are repeatable", () => {
    const argv = [SEVERAL, "--person=a@example.com", "--person=b@example.com"];
    const people = providersOf([...argv, "--staff.person=c@example.com"]).map((one) =>
      one.people.map(({ email }) => email),
    );
    expect(people).toEqual([["c@example.com"], ["a@example.com", "b@example.com"]]);
  });

  it("give each provider's default people a domain of their own", () => {
    const emails = providersOf([SEVERAL]).map(({ people }) => people.map(({ email }) => email));
    expect(emails).toEqual([
      ["ada@staff.example", "grace@staff.example", "alan@staff.example"],
      ["ada@customers.example", "grace@customers.example", "alan@customers.example"],
    ]);
    expect(providersOf([])[0]?.people[0]).toMatchObject({ email: "ada@example.com" });
  });

  it("say for one provider how its client authenticates, and that requests are pushed", () => {
    const argv = [SEVERAL, "--staff.client-key", "--customers.client-jwks=keys.json"];
    expect(providersOf([...argv, "--customers.require-pushed-requests"])).toMatchObject([
      { client: "key", requirePushedRequests: false },
      { client: { jwks: "keys.json" }, requirePushedRequests: true },
    ]);
  });

  it.each<[string[], string]>([
    [
      ["--providers=Staff"],
      '--providers is "Staff"; it must be keys separated by spaces or commas, each only once and with at most 31 lowercase letters, digits and hyphens, starting with a letter',
    ],
    [
      [SEVERAL, "--stuff.consent"],
      '--stuff.consent: "stuff" is not in --providers (staff, customers)',
    ],
    [["--staff.consent"], '--staff.consent: "staff" is not in --providers'],
    [[SEVERAL, "--staff.port=1"], "--port is the same for all providers; write it without a key"],
    [
      [SEVERAL, "--client-jwks=keys.json"],
      "with --providers, write --client-jwks for each provider that needs it: --staff.client-jwks=…",
    ],
    [
      [
        SEVERAL,
        "--staff.tenant=11111111-2222-4333-8444-555555555555",
        "--customers.tenant=11111111-2222-4333-8444-555555555555",
      ],
      "only one provider can have --tenant, because its path is Entra ID's",
    ],
    [
      ["--client-key", "--client-jwks=keys.json"],
      "--client-key creates a key, and --client-jwks has yours; use one of them",
    ],
    [["--access-tokens=jws"], '--access-tokens is "jws"; it must be jwt or opaque'],
    [["--consent=yes"], "--consent doesn't take a value"],
    [["--tls-cert=cert.pem"], "--tls-cert and --tls-key need each other"],
    [
      ["--base-url=https://app.example/shop"],
      '--base-url is "https://app.example/shop"; write the origin that browsers use, such as https://app.example',
    ],
    [["-consent"], 'unknown option "-consent"'],
    [["--toString"], 'unknown option "--toString"'],
  ])("%j is wrong usage", (argv, mistake) => {
    expect(readProviderUsage(argv)).toEqual({ mistake });
  });
});
