import { channel, type Channel } from "node:diagnostics_channel";
import type { Publish } from "./event-hub.js";
import type { EventName } from "./events.js";
import type { Log } from "../ports/log.js";

/** Fixed names, looked up once: a subscriber that comes later finds the same channel. */
const EVENT_CHANNELS: Readonly<Record<EventName, Channel>> = {
  login: channel("idpauth:login"),
  refresh: channel("idpauth:refresh"),
  logout: channel("idpauth:logout"),
  blocked: channel("idpauth:blocked"),
  ended: channel("idpauth:ended"),
  failure: channel("idpauth:failure"),
  outage: channel("idpauth:outage"),
};

const LOG_CHANNEL = channel("idpauth:log");

/**
 * Every event of every idpauth in this process, on the channel `idpauth:` and its name, for tools that are not handed the `auth`
 * object. Costs nothing without a subscriber. Unlike a listener's, what a subscriber throws is not caught for good: Node raises it
 * in a later tick as an uncaught exception, which ends the process unless the application handles those.
 */
export const publishToChannels: Publish = (name, event) => {
  const its = EVENT_CHANNELS[name];
  if (its.hasSubscribers) its.publish(event);
};

/** As `log`, and each line on the channel `idpauth:log`, also where the option `log` is false. */
export function publishingLines(log: Log): Log {
  return (entry) => {
    if (LOG_CHANNEL.hasSubscribers) LOG_CHANNEL.publish(entry);
    return log(entry);
  };
}
