import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Readable, Stream } from "node:stream";

interface NodeClasses {
  readonly ServerResponse: typeof ServerResponse;
  readonly Socket: typeof Socket;
  readonly Readable: typeof Readable;
  readonly Stream: typeof Stream;
}

let known: NodeClasses | undefined;

/**
 * Returns Node's classes of responses and streams. This folder doesn't import them, because
 * `idpauth/adapter` exports it, and adapters of the Fetch kind import `idpauth/adapter` where
 * `node:http` may not exist. Whoever has a response of node:http to pass has these modules.
 */
export function nodeClasses(): NodeClasses {
  if (known !== undefined) return known;
  const { ServerResponse } = process.getBuiltinModule("node:http");
  const { Socket } = process.getBuiltinModule("node:net");
  const { Readable, Stream } = process.getBuiltinModule("node:stream");
  known = { ServerResponse, Socket, Readable, Stream };
  return known;
}
