// One application at a time. Whoever starts it stops it: `application.stop()`.
import type { SessionStore } from "../../src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "./application.js";
import { SealingStore } from "./sealing-store.js";
import { watchedStore, type WatchedStore } from "./watched-store.js";

/** The application that was started last. */
export let application: Application;
/** Its store, if {@link start} or {@link signedIn} started it. */
export let store: WatchedStore;

/** Starts an application over a store that is made with the application's clock. */
export async function startOver<Store extends SessionStore>(
  newStore: (clock: TestClock) => Store,
  options: ApplicationOptions = {},
): Promise<Store> {
  const { clock = new TestClock() } = options;
  const made = newStore(clock);
  application = await startApplication({ store: made, ...options, clock });
  return made;
}

/** A store that gets encrypted records, as one outside the process does. */
export const sealing = (clock: TestClock) => new SealingStore(clock);

/** Starts an application over a store that is watched, and gives a user of it. */
export async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  store = await startOver(watchedStore, options);
  return application.user();
}

/** The same for a user who has signed in. */
export async function signedIn(options: ApplicationOptions = {}): Promise<TestUser> {
  const user = await start(options);
  await user.signIn();
  return user;
}

/** Lets seconds pass. */
export function pass(seconds: number): void {
  application.clock.advance(seconds * 1000);
}

/** How many refreshes the provider has had. */
export function refreshes(): number {
  return application.provider.requestsTo("token", { grant_type: "refresh_token" }).length;
}

/** The newest token of a kind. */
export function newest(kind: string): string {
  return application.provider.issued.findLast((issued) => issued.kind === kind)?.value ?? "";
}
