import { getRequestListener } from "@hono/node-server";
import type { Serve } from "./fetch.js";
import { listen } from "./listen.js";

/** The Fetch standard's style on Node. */
export const serveOnNode: Serve = (fetch) => {
  const answer = getRequestListener(fetch);
  return listen((request, response) => void answer(request, response));
};
