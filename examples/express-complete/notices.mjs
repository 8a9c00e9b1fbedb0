// @ts-check
import { EventEmitter } from "node:events";

/** The notices of all processes, over a channel of Redis. */
export class Notices {
  #redis;
  #received = new EventEmitter().setMaxListeners(0);

  /** @param {import("redis").RedisClientType} redis */
  constructor(redis) {
    this.#redis = redis;
  }

  /** @param {import("redis").RedisClientType} subscriber a connection for this alone */
  async receive(subscriber) {
    await subscriber.subscribe("notices", (text) => void this.#received.emit("notice", text));
  }

  /** @param {string} text */
  async publish(text) {
    await this.#redis.publish("notices", text);
  }

  /**
   * @param {(text: string) => void} listener
   * @param {AbortSignal} signal ends it
   */
  forEach(listener, signal) {
    this.#received.on("notice", listener);
    signal.addEventListener("abort", () => this.#received.off("notice", listener));
  }
}
