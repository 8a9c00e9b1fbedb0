import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { NAVIGATION_HEADERS, type Navigate } from "../../live/navigation.js";

/** Navigates over node:http, which uses a proxy in the environment if Node.js is told to. */
export const navigate: Navigate = (address, signal) => {
  const request = address.protocol === "http:" ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const sent = request(address, { headers: NAVIGATION_HEADERS, signal });
    sent.on("response", ({ statusCode = 0, headers }) => {
      resolve({ status: statusCode, location: headers.location ?? null });
      sent.destroy();
    });
    // An error after the response is ignored, since the promise is settled.
    sent.on("error", reject);
    sent.end();
  });
};
