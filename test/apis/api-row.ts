import type { Api } from "../../src/config/api-options.js";

/** A row of the table of APIs. */
export function apiRow(changes: Partial<Api> = {}): Api {
  return {
    name: "orders",
    url: new URL("https://orders.internal/v2/"),
    path: "/api/orders/",
    methods: undefined,
    paths: [],
    requestHeaders: {},
    responseHeaders: {},
    allowCrossSite: false,
    timeout: 30,
    ...changes,
  };
}
