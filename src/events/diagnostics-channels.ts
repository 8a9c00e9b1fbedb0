import { channel, type Channel } from "node:diagnostics_channel";
import type { EventName } from "./events.js";

/**
 * The channel of each event, for tools that do not have the `auth` object; every idpauth in this process publishes on them. Node raises
 * what a subscriber throws as an uncaught exception in a later tick. A listener's error is only logged.
 */
export const EVENT_CHANNELS: Readonly<Record<EventName, Channel>> = {
  login: channel("idpauth:login"),
  refresh: channel("idpauth:refresh"),
  logout: channel("idpauth:logout"),
  blocked: channel("idpauth:blocked"),
  ended: channel("idpauth:ended"),
  failure: channel("idpauth:failure"),
  outage: channel("idpauth:outage"),
};

/** The channel of every log line. It gets the lines with `log: false` too. */
export const LOG_CHANNEL = channel("idpauth:log");
