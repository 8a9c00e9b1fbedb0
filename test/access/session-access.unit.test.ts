import { expect, it, vi } from "vitest";
import { createSessionAccess, type SessionAccessOptions } from "../../src/access/session-access.js";
import { ProviderUnavailableError } from "../../src/errors.js";
import { EventHub } from "../../src/events/event-hub.js";
import type { Change, UserSession } from "../../src/ports/user-session.js";
import type { SessionRecord } from "../../src/record/record.js";
import { TestClock } from "../../src/testing/test-clock.js";

it("getAccessToken returns no token of a refresh that the application's code has not accepted", async () => {
  const clock = new TestClock();
  const now = Math.floor(clock.now() / 1000);
  const record: SessionRecord = {
    credentials: {
      token: "old",
      refresh_token: "r",
      token_uri: "u",
      client_id: "c",
      client_secret: "s",
      scopes: [],
    },
    id_info: { iss: "i", sub: "s", exp: now + 3600 },
    idp_state: { v: 1, access_token_expires_at: now + 5, tokens_received_at: now - 3595 },
  };
  const refreshed: SessionRecord = {
    ...record,
    credentials: { ...record.credentials!, token: "new" },
    idp_state: {
      v: 1,
      access_token_expires_at: now + 3600,
      tokens_received_at: now,
      review_due: true,
    },
  };
  const session = {
    read: () => Promise.resolve(record),
    touch: () => undefined,
  } as unknown as UserSession;
  const access = (result: SessionRecord) =>
    createSessionAccess({
      registrations: [],
      policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
      refresher: { refresh: () => Promise.resolve(result), idle: () => Promise.resolve() },
      clock,
    } as unknown as SessionAccessOptions);
  await expect(access(refreshed).accessToken(session, 30)).rejects.toBeInstanceOf(
    ProviderUnavailableError,
  );
  const { review_due: _due, ...accepted } = refreshed.idp_state;
  expect(await access({ ...refreshed, idp_state: accepted }).accessToken(session, 30)).toBe("new");
});

it("getAccessToken refreshes once per call if the provider's ID tokens arrive expired", async () => {
  const clock = new TestClock();
  const now = Math.floor(clock.now() / 1000);
  const record: SessionRecord = {
    credentials: {
      token: "fresh",
      refresh_token: "r",
      token_uri: "u",
      client_id: "c",
      client_secret: "s",
      scopes: [],
    },
    id_info: { iss: "i", sub: "s", exp: now - 60 },
    idp_state: { v: 1, access_token_expires_at: now + 3600, tokens_received_at: now },
  };
  const session = {
    read: () => Promise.resolve(record),
    touch: () => undefined,
  } as unknown as UserSession;
  const refresh = vi.fn(() => Promise.resolve(record));
  const access = createSessionAccess({
    registrations: [],
    policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
    refresher: { refresh, idle: () => Promise.resolve() },
    clock,
  } as unknown as SessionAccessOptions);
  expect(await access.accessToken(session, 30)).toBe("fresh");
  expect(refresh).toHaveBeenCalledTimes(1);
});

it("reports no end to open connections if only this request's copy of the record is idle", async () => {
  const clock = new TestClock();
  const now = Math.floor(clock.now() / 1000);
  const stale: SessionRecord = {
    credentials: { token: "t", token_uri: "u", client_id: "c", client_secret: "s", scopes: [] },
    id_info: { iss: "i", sub: "s", exp: now + 3600 },
    idp_last_active: now - 100,
    idp_state: { v: 1 },
  };
  const stored: SessionRecord = { ...stale, idp_last_active: now };
  const reportEnd = vi.fn();
  const session = {
    read: () => Promise.resolve(stale),
    update: (change: Change) =>
      Promise.resolve({ changed: change(stored) !== stored, record: stored }),
    reportEnd,
  } as unknown as UserSession;
  const access = createSessionAccess({
    registrations: [],
    policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: 60 },
    events: new EventHub(() => undefined, clock),
    clock,
  } as unknown as SessionAccessOptions);
  expect(await access.access(session)).toMatchObject({ authenticated: false, reason: "idle" });
  expect(reportEnd).not.toHaveBeenCalled();
});
