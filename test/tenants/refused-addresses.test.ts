import type { LookupFunction } from "node:net";
import { describe, expect, it } from "vitest";
import { readSettings } from "../../src/config/read-settings.js";
import { failureReason } from "../../src/errors.js";
import { EventHub } from "../../src/events/event-hub.js";
import type { LogEntry } from "../../src/events/log.js";
import { createOpenIdProvider } from "../../src/provider/openid-provider.js";
import { createTenantFetch } from "../../src/tenants/tenant-fetch.js";
import { TestClock } from "../../src/testing/test-clock.js";

describe("a provider whose address is refused", () => {
  const lookup: LookupFunction = (_hostname, _options, done) => {
    done(null, [{ address: "169.254.169.254", family: 4 }]);
  };

  it.each(["https://idp.example.com", "https://10.0.0.1"])(
    "%s: one log line with its key and without the address that it resolves to, and status 503",
    async (issuer) => {
      const log: LogEntry[] = [];
      const clock = new TestClock();
      const hub = new EventHub((entry) => void log.push(entry), clock);
      const outages: unknown[] = [];
      hub.on("outage", ({ provider, endpoint, reason }) =>
        outages.push([provider, endpoint, reason]),
      );
      const { providers, findings } = readSettings(
        { providers: { acme: { issuer, clientId: "shop", clientSecret: "a secret" } } },
        { SECRET_KEY: "an-example-of-a-key-with-32-bytes!", BASE_URL: "https://app.example" },
      );
      expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
      const provider = createOpenIdProvider({
        settings: providers[0]!.settings,
        clock,
        events: hub.ofProvider("acme"),
        fetch: createTenantFetch({ lookup }).fetch,
      });
      for (let index = 0; index < 2; index += 1) {
        const error: unknown = await provider.facts().catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: "provider_misconfigured", status: 503 });
        expect(failureReason(error)).toBe(index === 0 ? "address_refused" : "backing_off");
      }
      expect(log).toEqual([
        {
          level: "error",
          code: "provider_misconfigured",
          message: expect.stringContaining("Provider acme: The discovery address") as string,
          details: { provider: "acme", endpoint: "discovery", reason: "address_refused" },
        },
      ]);
      expect(outages).toEqual([["acme", "discovery", "address_refused"]]);
      expect(JSON.stringify(log)).not.toContain("169.254");
    },
  );
});
