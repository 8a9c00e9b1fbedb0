import type { FastifyInstance, FastifySchema } from "fastify";

/**
 * Routes for the endpoints, so that the `onRequest` hook of the surrounding scope runs for them.
 * The hook responds. A request that still reaches these handlers spells a path differently, and is
 * not found.
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
  // Methods that Fastify does not route, such as PURGE, reach a scope by its not-found handler.
  // Called without a function, this sets Fastify's own handler; the types do not know that.
  (scope as unknown as { setNotFoundHandler(): void }).setNotFoundHandler();
}

/**
 * Keeps a route out of the API documents of @fastify/swagger. Fastify writes into each schema, so
 * each route gets a new one.
 */
function hidden(): FastifySchema {
  return { hide: true } as FastifySchema;
}

/**
 * The mount path below a scope's prefix, without the slash at its end.
 *
 * @param claimed the beginning of the mount path below the scope's prefix, as the application
 *   states it
 * @throws TypeError if the mount path is not below both
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

/**
 * As the package fastify-plugin does: hooks and routes belong to the scope itself, not to a child
 * scope.
 */
export function notEncapsulated<Plugin extends object>(plugin: Plugin): Plugin {
  return Object.assign(plugin, {
    [Symbol.for("skip-override")]: true,
    [Symbol.for("fastify.display-name")]: "idpauth",
    [Symbol.for("plugin-meta")]: { name: "idpauth", fastify: "5.x" },
  });
}
