import { randomInt } from "node:crypto";
import { notifyOfEnd } from "../access/notify-application.js";
import type { SessionRequest } from "../access/session-request.js";
import { wait, type Clock } from "../clock.js";
import { failureReason, ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import { json, type Reply } from "../http/reply.js";
import type { LogoutToken } from "../ports/provider.js";
import { createSlots } from "../work/slots.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { readForm } from "./posted-form.js";

/**
 * Verified logout tokens that one process carries out at a time, and the milliseconds for which a
 * further one waits.
 */
const LOGOUTS = { limit: 20, patience: 2_000 };

/**
 * Failed logouts that wait for another attempt. Unverified tokens are counted separately, because
 * anyone can send them.
 */
const MAX_WAITING_LOGOUTS = 100;
/**
 * Milliseconds for which a failed logout is tried again, and the longest pause between two
 * attempts.
 */
const RETRY_FOR_MS = 300_000;
const LONGEST_PAUSE_MS = 30_000;
/**
 * Milliseconds between two attempts to verify all tokens that wait. Each attempt fetches the
 * provider's keys at most once.
 */
const VERIFY_AGAIN_MS = 5_000;

interface Unverified {
  /** The clock's `monotonic()`. */
  readonly since: number;
  /** The newest keys lack this token's key. */
  isInVain: boolean;
}

/**
 * POST {mountPath}backchannel-logout, or backchannel-logout/{key}: the provider ends sessions
 * (OpenID Connect Back-Channel Logout 1.0). The response is 200 only when every session concerned
 * is deleted.
 */
export function createBackchannelLogout(
  clock: Clock,
  registration: EndpointRegistration,
): (opened: SessionRequest, context: EndpointContext) => Promise<Reply> {
  const slots = createSlots({ ...LOGOUTS, reason: "logout_queue_full", clock });
  let retries = 0;
  /** Tokens for this client whose signature could not be checked yet. */
  const unverified = new Map<string, Unverified>();
  let isVerifying = false;

  /** Only tokens with the provider's signature take a slot. */
  async function inSlot(logout: LogoutToken, context: EndpointContext): Promise<void> {
    const release = await slots.take();
    try {
      await endSessions(logout, registration, context);
    } finally {
      release();
    }
  }

  /** Ends the sessions of a verified logout. Tries again in the background if that fails. */
  async function carryOut(logout: LogoutToken, context: EndpointContext): Promise<void> {
    try {
      await inSlot(logout, context);
    } catch (error) {
      if (!(error instanceof ProviderRefusedError)) void retry(logout, context);
      throw error;
    }
  }

  async function retry(logout: LogoutToken, context: EndpointContext): Promise<void> {
    if (retries >= MAX_WAITING_LOGOUTS) return;
    retries += 1;
    const until = clock.monotonic() + RETRY_FOR_MS;
    let isDone = false;
    for (
      let pause = 1_000;
      !isDone && clock.monotonic() + pause <= until;
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
    ) {
      await wait(clock, pause);
      isDone = await inSlot(logout, context).then(
        () => true,
        () => false,
      );
    }
    retries -= 1;
  }

  /**
   * Has a token wait for the provider's keys. If all places are taken, a random token gives way, so
   * a flood doesn't keep a real one out. Those whose key was looked for in vain go first.
   */
  function waitForKeys(token: string, context: EndpointContext): void {
    if (unverified.has(token)) return;
    if (unverified.size >= MAX_WAITING_LOGOUTS) {
      const inVain = [...unverified].filter(([, { isInVain }]) => isInVain);
      const candidates = inVain.length > 0 ? inVain : [...unverified];
      unverified.delete(candidates[randomInt(candidates.length)]?.[0] ?? "");
    }
    unverified.set(token, { since: clock.monotonic(), isInVain: false });
    if (!isVerifying) void verifyWaiting(context);
  }

  async function verifyWaiting(context: EndpointContext): Promise<void> {
    isVerifying = true;
    while (unverified.size > 0) {
      await wait(clock, VERIFY_AGAIN_MS);
      await Promise.all(
        [...unverified].map(([token, waiting]) => verifyAgain(token, waiting, context)),
      );
    }
    isVerifying = false;
  }

  async function verifyAgain(
    token: string,
    waiting: Unverified,
    context: EndpointContext,
  ): Promise<void> {
    try {
      const logout = await registration.provider.verifyLogoutToken(token);
      unverified.delete(token);
      void carryOut(logout, context).catch(() => undefined);
    } catch (error) {
      const waited = clock.monotonic() - waiting.since;
      if (error instanceof ProviderRefusedError || waited >= RETRY_FOR_MS) unverified.delete(token);
      // In this time, the keys were fetched at least once.
      waiting.isInVain =
        waited >= VERIFY_AGAIN_MS &&
        error instanceof ProviderUnavailableError &&
        error.reason === "unknown_key";
    }
  }

  return async ({ request }, context) => {
    const { events } = context;
    const { provider } = registration;
    const form = await readForm(request, clock);
    const tokens = form?.getAll("logout_token") ?? [];
    const [token] = tokens;
    if (token === undefined || tokens.length > 1)
      return refused("invalid_request", "Post one logout_token as a form field.");
    try {
      const logout = await provider.verifyLogoutToken(token).catch((error: unknown) => {
        if (!(error instanceof ProviderRefusedError)) waitForKeys(token, context);
        throw error;
      });
      await carryOut(logout, context);
      return json({});
    } catch (error) {
      if (error instanceof ProviderRefusedError) {
        events.refused("backchannel_logout", error.reason, { provider: registration.key });
        return refused("invalid_request", "The logout token isn't valid.");
      }
      events.failed("backchannel_logout", error, { provider: registration.key });
      // The provider's own retries are optional in section 2.8.
      return refused(
        "temporarily_unavailable",
        `The sessions couldn't be ended yet (${failureReason(error)}).`,
      );
    }
  };
}

/** Ends the sessions of a verified logout. */
async function endSessions(
  logout: LogoutToken,
  { key, logouts }: EndpointRegistration,
  context: EndpointContext,
): Promise<void> {
  await logouts?.end(logout, () => {
    const { issuer: iss, sub } = logout;
    notifyOfEnd({ reason: "logged_out_at_provider", iss, sub, provider: key }, context);
  });
}

/** Section 2.8 demands 400 for an invalid token and for a failure. */
function refused(error: string, description: string): Reply {
  return json({ error, error_description: description }, 400);
}
