import { expect, it } from "vitest";
import { createSessionAccess, type SessionAccessOptions } from "../../src/access/session-access.js";
import { ProviderUnavailableError } from "../../src/errors.js";
import type { UserSession } from "../../src/ports/user-session.js";
import type { SessionRecord } from "../../src/record/record.js";
import { TestClock } from "../../src/testing/test-clock.js";

it("getAccessToken returns no token of a refresh that the application's code has not accepted", async () => {
  const clock = new TestClock();
  const now = Math.floor(clock.now() / 1000);
  const record: SessionRecord = {
    credentials: { token: "old", refresh_token: "r", token_uri: "u", client_id: "c", client_secret: "s", scopes: [] },
    id_info: { iss: "i", sub: "s", exp: now + 3600 },
    idp_state: { v: 1, access_token_expires_at: now + 5, tokens_received_at: now - 3595 },
  };
  const refreshed: SessionRecord = {
    ...record,
    credentials: { ...record.credentials!, token: "new" },
    idp_state: { v: 1, access_token_expires_at: now + 3600, tokens_received_at: now, review_due: true },
  };
  const session = { read: () => Promise.resolve(record), touch: () => undefined } as unknown as UserSession;
  const access = (result: SessionRecord) =>
    createSessionAccess({
      policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
      refresher: { refresh: () => Promise.resolve(result), idle: () => Promise.resolve() },
      clock,
    } as unknown as SessionAccessOptions);
  await expect(access(refreshed).accessToken(session, 30)).rejects.toBeInstanceOf(ProviderUnavailableError);
  const { review_due: _due, ...accepted } = refreshed.idp_state;
  expect(await access({ ...refreshed, idp_state: accepted }).accessToken(session, 30)).toBe("new");
});
