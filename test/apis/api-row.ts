import type { Api } from "../../src/config/api-options.js";
import { readApis } from "../../src/config/read-apis.js";

/** A row of the table of APIs. */
export function apiRow(changes: Partial<Api> = {}): Api {
  const row = readApis(
    { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
    [],
  ).apis.get("orders");
  return { ...(row as Api), ...changes };
}
