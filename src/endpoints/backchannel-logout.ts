import { announceEach } from "../access/announce-logout.js";
import { Slots } from "../access/slots.js";
import { wait, type Clock } from "../clock.js";
import { failureReason, ProviderRefusedError } from "../errors.js";
import { json, type Reply } from "../http/request-and-replies.js";
import type { LogoutToken } from "../ports/provider.js";
import type { EndpointContext } from "./context.js";
import { readForm } from "./form.js";
import type { SessionRequest } from "./session-request.js";

/** Verified logout tokens that one process carries out at a time, and the milliseconds for which a further one waits. */
const LOGOUTS = { limit: 20, patience: 2_000 };

/** Failed logouts that wait for another attempt. Unverified tokens are counted separately, because anyone can send them. */
const MAX_RETRIES = 100;
/** Milliseconds for which a failed logout is tried again, and the longest pause between two attempts. */
const RETRY_FOR = 300_000;
const LONGEST_PAUSE = 30_000;

/**
 * POST {mountPath}backchannel-logout: the provider ends sessions (OpenID Connect Back-Channel Logout 1.0). The response is 200 only when
 * every session concerned is deleted.
 */
export function createBackchannelLogout(clock: Clock): (visit: SessionRequest, context: EndpointContext) => Promise<Reply> {
  const slots = new Slots({ ...LOGOUTS, reason: "logout_queue_full", clock });
  const retries = { verified: 0, unverified: 0 };

  async function carryOut(token: string, known: LogoutToken | undefined, context: EndpointContext): Promise<void> {
    const logout = known ?? (await context.provider.verifyLogoutToken(token));
    // Only tokens with the provider's signature take a slot.
    const release = await slots.take();
    try {
      await endSessions(logout, context);
    } finally {
      release();
    }
  }

  /** Tries a failed logout again, in the background. */
  async function retry(token: string, known: LogoutToken | undefined, context: EndpointContext): Promise<void> {
    const kind = known === undefined ? "unverified" : "verified";
    if (retries[kind] >= MAX_RETRIES) return;
    retries[kind] += 1;
    const until = clock.monotonic() + RETRY_FOR;
    try {
      for (let pause = 1_000; clock.monotonic() + pause <= until; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
        await wait(clock, pause);
        try {
          await carryOut(token, known, context);
          return;
        } catch (error) {
          if (error instanceof ProviderRefusedError) return;
        }
      }
    } finally {
      retries[kind] -= 1;
    }
  }

  return async ({ request }, context) => {
    const { events, provider } = context;
    const form = await readForm(request, clock);
    const tokens = form?.getAll("logout_token") ?? [];
    const [token] = tokens;
    if (token === undefined || tokens.length > 1) return refused("invalid_request", "Post one logout_token as a form field.");
    let logout: LogoutToken | undefined;
    try {
      logout = await provider.verifyLogoutToken(token);
      await carryOut(token, logout, context);
      return json({});
    } catch (error) {
      if (error instanceof ProviderRefusedError) {
        events.refused("backchannel_logout", error.reason);
        return refused("invalid_request", "The logout token is not valid.");
      }
      events.failed("backchannel_logout", error);
      // The provider's own retries are optional in section 2.8.
      void retry(token, logout, context);
      return refused("temporarily_unavailable", `The sessions could not be ended yet (${failureReason(error)}).`);
    }
  };
}

/** Ends the sessions of a verified logout. */
async function endSessions(logout: LogoutToken, { providerLogouts, events, application, tasks }: EndpointContext): Promise<void> {
  const ended = (await providerLogouts?.end(logout)) ?? 0;
  const { sub, issuer } = logout;
  await announceEach(ended, () => {
    events.emit("ended", { issuer, ...(sub !== undefined && { subject: sub }), reason: "logged_out_at_provider" });
    // Without `sub`, the user is unknown, because only the browser's cookie decrypts the record.
    if (sub !== undefined) tasks.add(application.signedOut("logged_out_at_provider", undefined, { iss: issuer, sub }));
  });
}

/** Section 2.8 demands 400 for an invalid token and for a failure. */
function refused(error: string, description: string): Reply {
  return json({ error, error_description: description }, 400);
}
