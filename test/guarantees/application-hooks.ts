import type { ApplicationOptions } from "../../src/application/hooks.js";
import { deny } from "../../src/index.js";
import type { JsonObject } from "../../src/record/json.js";
import type { SessionRecord } from "../../src/record/record.js";
import type { Random } from "./random.js";
import type { Process, Scheduler } from "./scheduler.js";

/** What the application's `onSignIn` does with the data that the same user had before. */
export type SignInHook = (typeof SIGN_IN_HOOKS)[number];
/**
 * `adds` returns an object with another key and the tags as it read them, `changes` a function of
 * the newest data.
 */
export const SIGN_IN_HOOKS = ["none", "keeps", "replaces", "adds", "changes"] as const;

export interface HookPlan {
  readonly signInHook: SignInHook;
  readonly hasRefreshHook: boolean;
}

/** What happens to the hooks of all processes. */
export interface HookWeather {
  /** The probability that a hook throws, or never returns. */
  trouble: number;
  denies: boolean;
  /** The access tokens whose sign-in `onSignIn` denied. */
  readonly denied: Set<string>;
  /** The `sub` of each run of `onSignOut`. */
  readonly signOuts: string[];
}

/** The application's data of this model: whose it is, and one tag for each change. */
interface ModelData {
  readonly owner?: unknown;
  readonly tags: readonly string[];
}

export function modelData(data: JsonObject | undefined): ModelData {
  const { owner, tags = [] } = data ?? {};
  return { owner, tags: tags as readonly string[] };
}

export function tagsIn(record: SessionRecord): readonly string[] {
  return modelData(record.idp_state.data).tags;
}

/** A change that adds a tag. */
export function tagging(
  owner: unknown,
  tag: string,
): (data: JsonObject) => Record<string, unknown> {
  return (data) => ({ owner, ...data, tags: [...modelData(data).tags, tag] });
}

/** The tag that `onRefresh` adds for an access token. */
export function refreshTag(token: string): string {
  return `refreshed:${token}`;
}

/** The hooks of one process. Each is one operation of the scheduler. */
export function modelHooks(
  process: Process,
  { signInHook, hasRefreshHook }: HookPlan,
  weather: HookWeather,
  scheduler: Scheduler,
  random: Random,
): ApplicationOptions {
  const call = <Result>(label: string, signal: AbortSignal, work: () => Result) =>
    scheduler.operation(process, {
      label,
      signal,
      work: () => {
        scheduler.count(label);
        return work();
      },
      fault: () =>
        random.chance(weather.trouble) ? random.pick(["before", "after", "hang"] as const) : "none",
      failure: () => new Error("the application is away"),
      ...(random.chance(weather.trouble) && {
        delays: [0, random.pick([500, 4_000, 9_000])] as const,
      }),
    });
  return {
    onSignOut({ reason, subject }) {
      scheduler.count(`hook onSignOut ${reason}`);
      weather.signOuts.push(subject.sub);
    },
    ...(signInHook !== "none" && {
      onSignIn: ({ claims: { sub }, data, credentials, signal }) =>
        call("hook onSignIn", signal, () => {
          if (weather.denies) {
            weather.denied.add(credentials.token);
            return deny();
          }
          if (signInHook === "keeps" && data !== null) return undefined;
          const tag = `signed in:${credentials.token}`;
          if (signInHook === "changes") return { data: tagging(sub, tag) };
          if (signInHook === "adds" && data !== null) return { data: { ...data, newest: tag } };
          return { data: { owner: sub, tags: [tag] } };
        }),
    }),
    ...(hasRefreshHook && {
      onRefresh: ({ claims: { sub }, credentials, signal }) =>
        call("hook onRefresh", signal, () =>
          weather.denies ? deny() : tagging(sub, refreshTag(credentials.token)),
        ),
    }),
  };
}
