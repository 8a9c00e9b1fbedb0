import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.js";
import { readSettings } from "../../src/config/read-settings.js";
import type { Finding } from "../../src/errors.js";
import { checkProvider } from "../../src/tenants/check-provider.js";
import { createTenantFetch } from "../../src/tenants/tenant-fetch.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { PROVIDER, settingsFor, stopAfterRefusals } from "../cli/live-situations.mjs";
import { stoppedAfterEach } from "../support/stopped-after-each.js";

const KEY = "acme";
const REDIRECT_URI = `https://app.example/idpauth/login-callback/${KEY}`;

describe("the check of a provider that a customer has entered", () => {
  const running = stoppedAfterEach();
  let provider: TestProvider;

  beforeEach(async () => {
    provider = await startTestProvider({ ...PROVIDER, redirectUris: [REDIRECT_URI] });
    running.push(() => stopAfterRefusals(provider));
  });

  interface Given {
    readonly options?: Readonly<Record<string, unknown>>;
    readonly key?: string | undefined;
    readonly origin?: string;
    readonly internalHosts?: readonly string[];
    readonly clock?: typeof systemClock;
  }

  async function check({ options, internalHosts, clock, ...given }: Given = {}) {
    const { IDP_ISSUER, IDP_CLIENT_ID, IDP_CLIENT_SECRET, ...common } = settingsFor(provider);
    const network = createTenantFetch({
      internalHosts: internalHosts ?? [new URL(provider.issuer).host],
    });
    running.push(() => {
      network.close();
    });
    return checkProvider({
      options: {
        issuer: IDP_ISSUER,
        clientId: IDP_CLIENT_ID,
        clientSecret: IDP_CLIENT_SECRET,
        ...options,
      },
      read: (unchecked) => {
        const { providers, findings } = readSettings(
          { providers: { [KEY]: unchecked } } as Parameters<typeof readSettings>[0],
          common,
        );
        return { provider: providers[0], findings };
      },
      networkOf: () => network,
      key: "key" in given ? given.key : KEY,
      origin: given.origin,
      clock: clock ?? systemClock,
    });
  }

  const codes = (findings: readonly Finding[]) => findings.map(({ code }) => code);

  it("finds nothing if everything is right", async () => {
    expect(await check()).toEqual([]);
  });

  it("finds mistakes in the options without asking the provider", async () => {
    const findings = await check({ options: { clientId: "", scope: "profile" } });
    expect(codes(findings)).toEqual(expect.arrayContaining(["E003", "E005"]));
    expect(provider.requests).toEqual([]);
  });

  it("finds a wrong secret, and names the option and not the secret", async () => {
    const findings = await check({ options: { clientSecret: "a wrong secret, long enough" } });
    expect(codes(findings)).toContain("E109");
    expect(JSON.stringify(findings)).not.toContain("a wrong secret");
    provider.violations.splice(0);
  });

  it("finds a redirect URI that isn't registered, with the provider's key in it", async () => {
    const findings = await check({ key: "globex" });
    expect(codes(findings)).toEqual(["W107"]);
    expect(findings[0]?.remedy).toContain("https://app.example/idpauth/login-callback/globex");
    provider.violations.splice(0);
  });

  it("checks the redirect URI at the customer's own origin", async () => {
    const findings = await check({ origin: "https://globex.app.example" });
    expect(codes(findings)).toEqual(["W107"]);
    expect(findings[0]?.remedy).toContain(
      `https://globex.app.example/idpauth/login-callback/${KEY}`,
    );
    provider.violations.splice(0);
  });

  it("sends no redirect URI for a provider that has no key yet", async () => {
    expect(await check({ key: undefined })).toEqual([]);
    expect(provider.requests.map(({ endpoint }) => endpoint)).not.toContain("authorization");
  });

  it("asks no server whose address is refused", async () => {
    const findings = await check({ internalHosts: [] });
    expect(codes(findings)).toEqual(["E117"]);
    expect(provider.requests).toEqual([]);
  });

  it.each([
    ["jwks_uri", "https://169.254.169.254/keys"],
    ["token_endpoint", "https://10.0.0.1/token"],
    ["authorization_endpoint", "https://[::ffff:10.0.0.1]/authorize"],
    ["userinfo_endpoint", "https://idp.internal/userinfo"],
    ["revocation_endpoint", "https://127.0.0.1/revoke"],
    ["end_session_endpoint", "https://2130706433/logout"],
  ])("finds that the %s is %s", async (name, address) => {
    provider.discoveryDocument = (document) => ({ ...document, [name]: address });
    const findings = await check();
    expect(codes(findings)).toEqual(["E117"]);
    expect(findings[0]?.message).toContain(name.replace("_endpoint", ""));
    provider.violations.splice(0);
  });

  it("ends after 10 seconds with what was found until then, if the provider hangs", async () => {
    const times: number[] = [];
    let end = (): void => undefined;
    const clock = {
      ...systemClock,
      timer(milliseconds: number, task: () => void) {
        times.push(milliseconds);
        if (milliseconds === 10_000) end = task;
        return () => undefined;
      },
    };
    const silent = createServer(() => {
      end();
    });
    await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
    running.push(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const host = `127.0.0.1:${String((silent.address() as AddressInfo).port)}`;
    const findings = await check({
      options: { issuer: `http://${host}` },
      internalHosts: [host],
      clock,
    });
    expect(codes(findings)).toEqual(["E101"]);
    expect(findings[0]?.message).toContain("10 seconds");
    expect(times).toContain(10_000);
  });

  it("shows nothing of a response", async () => {
    const page = createServer((_request, response) => response.end("the internal dashboard"));
    await new Promise<void>((done) => page.listen(0, "127.0.0.1", done));
    running.push(() => page.close());
    const host = `127.0.0.1:${String((page.address() as AddressInfo).port)}`;
    const findings = await check({ options: { issuer: `http://${host}` }, internalHosts: [host] });
    expect(codes(findings)).toEqual(["E103"]);
    expect(JSON.stringify(findings)).not.toContain("dashboard");
  });
});
