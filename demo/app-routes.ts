import { jsonAnswer } from "./answers.js";
import type { DemoSetup } from "./application.js";
import { Items, newItemText } from "./items.js";
import type { Accessors, DemoRoute, DemoSession } from "./route.js";

/**
 * Returns the interface of the single-page application at /app/. Each route is guarded.
 *
 * @param bodyOf returns the text of a request's body; undefined if it is too long
 */
export function appRoutes<FrameworkRequest extends object>(
  { switches }: DemoSetup,
  auth: Accessors<FrameworkRequest>,
  bodyOf: (request: FrameworkRequest) => Promise<string | undefined>,
): readonly DemoRoute<FrameworkRequest>[] {
  const items = new Items();
  const guard = {};
  const keyOf = ({ claims }: DemoSession) => JSON.stringify([claims.iss, claims.sub]);

  return [
    {
      method: "GET",
      path: "/app/api/items",
      guard,
      async answer(request) {
        return jsonAnswer(200, { items: items.of(keyOf(await auth.requireSession(request))) });
      },
    },
    {
      method: "POST",
      path: "/app/api/items",
      guard,
      async answer(request) {
        const session = await auth.requireSession(request);
        const text = newItemText(await bodyOf(request));
        if (text === undefined)
          return jsonAnswer(400, {
            error: "invalid_item",
            detail: "Send { text } with 1 to 100 characters.",
          });
        return jsonAnswer(201, items.add(keyOf(session), text));
      },
    },
    {
      method: "POST",
      path: "/app/api/outage",
      guard,
      answer: () =>
        switches === undefined
          ? noSwitches()
          : jsonAnswer(200, { seconds: switches.startOutage() }),
    },
    {
      method: "POST",
      path: "/app/api/near-end",
      guard,
      answer() {
        const seconds = switches?.approachIdleLimit();
        return seconds === undefined ? noSwitches() : jsonAnswer(200, { seconds });
      },
    },
    {
      method: "POST",
      path: "/app/api/end",
      guard,
      async answer(request) {
        const { iss, sub } = (await auth.requireSession(request)).claims;
        if (switches === undefined) return noSwitches();
        const own = (await auth.listSessions({ iss, sub }, request)).find(({ current }) => current);
        return jsonAnswer(200, {
          ended: own !== undefined && (await auth.endSession({ iss, sub }, own.id)),
        });
      },
    },
  ];
}

/** The framework keeps the sessions, or the idle timeout is too short. */
function noSwitches() {
  return jsonAnswer(409, {
    error: "not_possible",
    detail: "This is not possible with the settings of this demo.",
  });
}
