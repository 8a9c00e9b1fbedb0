import type { FastifyInstance, FastifySchema } from "fastify";

/**
 * Where requests for the endpoints get to when nothing else of the application takes them: the hook of the surrounding scope
 * answers those that are ours. What arrives here in the end is another spelling, and is not found.
 */
export async function endpoints(scope: FastifyInstance): Promise<void> {
  for (const url of ["/", "/*"]) {
    scope.route({
      method: [...scope.supportedMethods],
      url,
      schema: hidden(),
      handler(_request, reply) {
        reply.callNotFound();
      },
    });
  }
  // Methods for which Fastify has no routes, such as PURGE, come to a scope by its not-found handler; without one given it is
  // Fastify's own, which the types do not know.
  (scope as unknown as { setNotFoundHandler(): void }).setNotFoundHandler();
}

/** Kept out of the application's API documents, as @fastify/swagger has it. Fastify leaves marks in each, so each is new. */
function hidden(): FastifySchema {
  return { hide: true } as FastifySchema;
}

/**
 * The mount path as a scope with this prefix has to name it, without the slash at its end.
 *
 * @param claimed what the application says that the mount path begins with, below the scope's prefix
 * @throws TypeError when the mount path lies elsewhere
 */
export function pathBelow(prefix: string, claimed: string, mountPath: string): string {
  const outer = withoutSlash(prefix);
  const said = outer + withoutSlash(claimed);
  if (mountPath.startsWith(`${said}/`)) return mountPath.slice(outer.length, -1);
  throw new TypeError(
    `idpauth is registered below the prefix ${said}, but its mount path is ${mountPath}. ` +
      `Set \`mountPath\` (IDP_MOUNT_PATH) to the whole path, such as ${said}/idpauth/.`,
  );
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** What the package fastify-plugin does: what is registered belongs to the scope itself, not to one of its own. */
export function notEncapsulated<Plugin extends object>(plugin: Plugin): Plugin {
  return Object.assign(plugin, {
    [Symbol.for("skip-override")]: true,
    [Symbol.for("fastify.display-name")]: "idpauth",
    [Symbol.for("plugin-meta")]: { name: "idpauth", fastify: "5.x" },
  });
}
