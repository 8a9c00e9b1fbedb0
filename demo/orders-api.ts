/** The orders API: a service that knows access tokens and no sessions. */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { jsonAnswer, streamAnswer, type DemoAnswer } from "./answers.js";
import { events } from "./event-stream.js";
import { Items, newItemText } from "./items.js";
import { userOf, type OrdersUser } from "./orders-users.js";
import { textOf } from "./request-text.js";
import { UserinfoError } from "./userinfo.js";
import { accept, serveSocket } from "./web-socket.js";

export interface OrdersOptions {
  /** Of the providers whose access tokens it accepts. */
  readonly issuers: readonly string[];
  /** Seconds for which a sign-in is recent enough for an approval. */
  readonly maxAge: number;
  /** Fires when the process is about to end. */
  readonly closing: AbortSignal;
}

/** A request with a valid token. */
interface Call {
  readonly request: IncomingMessage;
  readonly user: OrdersUser;
  /** The first digits of the token's hash. They tell tokens apart and are worth nothing. */
  readonly mark: string;
}

type Answer = (call: Call) => DemoAnswer | Promise<DemoAnswer>;

/**
 * Milliseconds after which /refused refuses a new token again: longer than the minute in which
 * idpauth doesn't refresh a second time.
 */
const REFUSAL = 90_000;

const EXAMPLES = ["2,000 punched cards", "A can of machine oil", "One difference engine"];

export function ordersListener(
  options: OrdersOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const routes = ordersRoutes(options);
  const { issuers, closing } = options;

  async function answerTo(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<DemoAnswer | undefined> {
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
    const user = token === undefined ? undefined : await userOf(token, issuers);
    if (token === undefined || user === undefined) return refusal({ error: "invalid_token" });
    const mark = createHash("sha256").update(token).digest("hex").slice(0, 8);
    const wanted = `${request.method ?? ""} ${request.url?.split("?", 1)[0] ?? ""}`;
    if (wanted === "GET /v1/stream") return streamAnswer(events(closing));
    if (
      wanted === "GET /v1/socket" &&
      accept(request, response, (socket) => void serveSocket(socket, closing))
    )
      return undefined;
    return routes.get(wanted)?.({ request, user, mark }) ?? jsonAnswer(404, { error: "not_found" });
  }

  return async (request, response) => {
    try {
      const answer = await answerTo(request, response);
      if (answer !== undefined) send(response, answer);
    } catch (error) {
      if (!(error instanceof UserinfoError)) console.error(error);
      send(
        response,
        jsonAnswer(error instanceof UserinfoError ? 503 : 500, { error: "unavailable" }),
      );
    }
  };
}

function ordersRoutes({ maxAge }: OrdersOptions): ReadonlyMap<string, Answer> {
  const items = new Items(EXAMPLES);
  /** By user: the token that was refused, and when. */
  const refusals = new Map<string, { readonly mark: string; readonly at: number }>();
  /** By user: the epoch second at which an approval required a new sign-in. */
  const challenges = new Map<string, number>();

  return new Map<string, Answer>([
    [
      "GET /v1/items",
      ({ request, user, mark }) =>
        jsonAnswer(200, {
          items: items.of(user.key),
          token: mark,
          cookie: request.headers.cookie ?? null,
        }),
    ],
    [
      "POST /v1/items",
      async ({ request, user }) => {
        const text = newItemText(await textOf(request));
        if (text === undefined)
          return jsonAnswer(400, {
            error: "invalid_item",
            detail: "Send { text } with 1 to 100 characters.",
          });
        items.of(user.key);
        return jsonAnswer(201, items.add(user.key, text));
      },
    ],
    [
      "GET /v1/refused",
      ({ user, mark }) => {
        const before = refusals.get(user.key);
        const now = Date.now();
        const isOver = before === undefined || now - before.at > REFUSAL;
        if (isOver) refusals.set(user.key, { mark, at: now });
        if (isOver || before.mark === mark) return refusal({ error: "invalid_token" });
        return jsonAnswer(200, {
          refused: before.mark,
          accepted: mark,
          secondsAgo: Math.floor((now - before.at) / 1000),
        });
      },
    ],
    [
      "POST /v1/approvals",
      ({ user: { key, signedInAt } }) => {
        if (signedInAt === undefined) return jsonAnswer(403, { error: "sign_in_time_unknown" });
        const now = Math.floor(Date.now() / 1000);
        const requiredAt = challenges.get(key);
        const isRecent =
          requiredAt !== undefined && signedInAt >= requiredAt && now - signedInAt <= maxAge;
        if (isRecent)
          return jsonAnswer(201, { approved: true, secondsSinceSignIn: now - signedInAt });
        challenges.set(key, now);
        return refusal({ error: "insufficient_user_authentication", max_age: String(maxAge) });
      },
    ],
  ]);
}

/** The 401 of RFC 6750 section 3, or of RFC 9470 section 3. */
function refusal(parameters: Readonly<Record<string, string>>): DemoAnswer {
  const answer = jsonAnswer(401, parameters);
  const challenge = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  return {
    ...answer,
    headers: { ...answer.headers, "WWW-Authenticate": `Bearer ${challenge.join(", ")}` },
  };
}

function send(response: ServerResponse, { status, headers, body }: DemoAnswer): void {
  response.writeHead(status, headers);
  if (typeof body === "string") response.end(body);
  else pipeline(body, response, () => {});
}
