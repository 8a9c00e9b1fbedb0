/** A callback whose state this browser has used before: a double click, or a lost response. */
import { wait, type Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";
import { redirect, type Reply } from "../http/reply.js";
import { isExchanging, isUsedState } from "../record/pending-logins.js";
import type { SessionRecord } from "../record/record.js";
import { inTime } from "../work/deadline.js";
import { linkInvalid, sameLogin, type Callback } from "./callback-endings.js";
import type { RunningExchanges } from "./running-exchanges.js";

/** Milliseconds between two reads of a session whose code another process exchanges. */
const LOOK_AGAIN_MS = { first: 50, longest: 1_000 };
const RETRY_SECONDS = 2;

export interface Repeated {
  readonly stateHash: string;
  /** The newest record that the request has seen. */
  readonly record: SessionRecord | undefined;
  readonly exchanges: RunningExchanges;
  /** The reply if nothing tells that this browser has used the state. Default: {@link linkInvalid}. */
  readonly otherwise?: () => Reply | Promise<Reply>;
}

/**
 * Waits until the exchange has ended, and then begins the same login again, once. It never leads to
 * the session that the first callback has begun: cookie and state alone prove nothing, since whoever
 * planted the cookie knows both (session fixation). So it redeems nothing and sets no cookie, and
 * the new login counts as one that another site may have begun.
 */
export async function repeatedCallback(callback: Callback, repeated: Repeated): Promise<Reply> {
  const { opened, context, registration } = callback;
  const { stateHash, otherwise = () => linkInvalid(callback) } = repeated;
  const { pages, events, settings } = context;
  try {
    const record = await afterExchange(callback, repeated);
    if (record?.credentials !== undefined)
      return isUsedState(record, stateHash)
        ? redirect(record.final_redirect ?? settings.authFinalRedirectUrl ?? pages.publicPath)
        : await otherwise();
    const target = await opened.session.takeTrace?.(stateHash);
    if (target === undefined) return await otherwise();
    events.refused("callback", "repeated", { provider: registration.key });
    return redirect(sameLogin({ ...target, cross_site: true }, pages.publicPath));
  } catch (error) {
    events.failed("callback", error, { provider: registration.key });
    throw error;
  }
}

/**
 * Waits for an exchange that this or another process runs, at most IDP_HTTP_TIMEOUT. Holds no slot.
 *
 * @returns the newest record
 * @throws ProviderUnavailableError if the exchange takes longer
 */
async function afterExchange(
  { opened: { session }, context, registration }: Callback,
  { stateHash, exchanges, record: known }: Repeated,
): Promise<SessionRecord | undefined> {
  const { clock } = context;
  const deadline = clock.monotonic() + registration.settings.httpTimeout * 1000;
  let interval = LOOK_AGAIN_MS.first;
  let record = known;
  while (record !== undefined && isExchanging(record, stateHash)) {
    const left = deadline - clock.monotonic();
    if (left <= 0) {
      // The user stays signed in, whatever becomes of the exchange.
      if (record.credentials !== undefined) return record;
      throw new ProviderUnavailableError("sign_in_running", { retryAfter: RETRY_SECONDS });
    }
    const end = exchanges.endOf(session.key ?? "", stateHash);
    if (end === undefined) await wait(clock, Math.min(interval, left));
    else await endOrLimit(end, clock, left);
    interval = Math.min(interval * 2, LOOK_AGAIN_MS.longest);
    record = await session.reload();
  }
  return record;
}

function endOrLimit(end: Promise<void>, clock: Clock, milliseconds: number): Promise<void> {
  const late = () => new ProviderUnavailableError("sign_in_running");
  return inTime(end, { clock, milliseconds, late }).catch(() => undefined);
}
