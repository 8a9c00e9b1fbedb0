import { fileAnswer, pageAnswer } from "./answers.js";
import type { DemoSetup } from "./application.js";
import { mountPath } from "./configuration.js";
import { ordersPage } from "./orders-page.js";
import { ORDERS_SCRIPT } from "./orders-script.js";
import type { DemoRoute } from "./route.js";

/**
 * Returns the page of the orders API, and its script; nothing if the API doesn't run.
 *
 * @param hasSocket whether the adapter passes WebSockets on
 */
export function ordersRoutes<FrameworkRequest extends object>(
  { orders, env }: DemoSetup,
  hasSocket: boolean,
): readonly DemoRoute<FrameworkRequest>[] {
  if (orders === undefined) return [];
  return [
    {
      method: "GET",
      path: "/orders",
      guard: {},
      answer: () => pageAnswer(200, ordersPage(mountPath(env), hasSocket), { script: true }),
    },
    {
      method: "GET",
      path: "/orders.js",
      guard: undefined,
      answer: () => fileAnswer("text/javascript; charset=utf-8", ORDERS_SCRIPT, "no-cache"),
    },
  ];
}
