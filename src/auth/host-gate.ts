import type { Clock } from "../clock.js";
import { isOutage } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { OriginFunction, type HostGate } from "../http/origins.js";
import { isAtUnknownHost, severalOrigins, type AddressSettings } from "../http/own-origin.js";
import type { Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import { uncaughtReply } from "../pages/failure-reply.js";
import type { Pages } from "../pages/pages.js";
import { unknownHostReply } from "../pages/unknown-host.js";
import { AskedOrigins } from "./asked-origins.js";

/** The settings of a running component: a function of the application has a memory. */
export function withAskedOrigins<Settings extends AddressSettings>(
  settings: Settings,
  parts: { readonly clock: Clock; readonly events: EventHub },
): Settings {
  const { baseUrl } = settings;
  return baseUrl instanceof OriginFunction
    ? Object.freeze({ ...settings, baseUrl: new AskedOrigins(baseUrl, parts) })
    : settings;
}

/** Undefined: the application has one origin, so every host is served. */
export function createHostGate(settings: AddressSettings, pages: Pages): HostGate | undefined {
  const origins = severalOrigins(settings);
  if (origins === undefined) return undefined;
  const find: HostGate["find"] = (request) =>
    origins instanceof AskedOrigins ? origins.find(request, settings.trustProxy) : undefined;

  async function refusedOnceFound(
    request: IdpRequest,
    found: Promise<void>,
  ): Promise<Reply | undefined> {
    try {
      await found;
    } catch (error) {
      if (!isOutage(error)) throw error;
      return uncaughtReply(error, request, pages);
    }
    return isAtUnknownHost(request, settings) ? unknownHostReply(request) : undefined;
  }

  return {
    find,
    isOwn: (origin) =>
      origins instanceof AskedOrigins ? origins.isOwn(origin) : origins.has(origin),
    refused(request) {
      const found = find(request);
      if (found !== undefined) return refusedOnceFound(request, found);
      return isAtUnknownHost(request, settings)
        ? Promise.resolve(unknownHostReply(request))
        : undefined;
    },
  };
}
