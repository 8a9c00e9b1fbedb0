import type { StoreProblem } from "../../ports/session-store.js";
import type { RedisNode } from "./redis-connection.js";

/** What a server says about itself. */
export interface RedisFacts {
  readonly isReplica: boolean;
  /** The `maxmemory-policy` by which it may evict keys. `unknown`: it doesn't say. */
  readonly evicts: string | undefined;
  /** Whether it has evicted keys since its start, or may have. */
  readonly hasEvicted: boolean;
}

/** Policies of Redis and Valkey, and those to come. */
const POLICY = /^[a-z-]{1,40}$/;

/** Asks every primary. Rejects if one doesn't respond; one that forbids the question is unknown. */
export function readFacts(nodes: readonly RedisNode[]): Promise<RedisFacts[]> {
  return Promise.all(nodes.map(async (node) => factsIn(await infoOf(node))));
}

/** An empty text: an ACL, a provider of Redis or a proxy doesn't allow the command. */
async function infoOf(node: RedisNode): Promise<string> {
  try {
    return String(await node.send(["INFO"]));
  } catch (error) {
    if (error instanceof Error && /^(NOPERM|ERR|unsupported command)\b/i.test(error.message))
      return "";
    throw error;
  }
}

/** The facts in the response to `INFO`. */
export function factsIn(info: string): RedisFacts {
  const fields = new Map(
    info.split(/\r?\n/).map((line): [string, string] => {
      const at = line.indexOf(":");
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
  const policy = fields.get("maxmemory_policy") ?? "";
  // Without a limit, no policy evicts.
  const never = policy === "noeviction" || (policy !== "" && fields.get("maxmemory") === "0");
  return {
    isReplica: fields.get("role") === "slave",
    evicts: never ? undefined : POLICY.test(policy) ? policy : "unknown",
    hasEvicted: fields.get("evicted_keys") !== "0",
  };
}

/** What is wrong with the servers, for the startup checks and the live check. */
export function serverProblemsOf(facts: readonly RedisFacts[]): StoreProblem[] {
  const problems: StoreProblem[] = [];
  if (facts.some(({ isReplica }) => isReplica)) {
    problems.push({
      message:
        "The Redis server is a replica. It refuses writes, and may still return a session after its logout.",
      remedy: "Connect the client to the primary.",
    });
  }
  const policies = new Set(facts.flatMap(({ evicts }) => evicts ?? []));
  const isUnknown = policies.delete("unknown");
  if (policies.size > 0) {
    problems.push({
      message: `The Redis server may evict sessions, because its maxmemory-policy is ${[...policies].join(" and ")}. Users are then signed out, and each logout by the provider and each \`endAllSessions\` has to read all sessions.`,
      remedy: "Set `maxmemory-policy noeviction`, on a server of its own if necessary.",
      isWarning: true,
    });
  } else if (isUnknown) {
    problems.push({
      message:
        "The Redis server doesn't say whether it may evict sessions. Each logout by the provider and each `endAllSessions` has to read all sessions.",
      remedy:
        "Allow the command INFO in the ACL of the Redis user, and check that `maxmemory-policy` is `noeviction`.",
      isWarning: true,
    });
  }
  return problems;
}
