import type { Response } from "express";
import type { EventStream } from "../../src/index.js";
import { before, patched, type BrokenApplication } from "./broken-adapters.js";

const area = "event streams";

/** Changes the response to the request for the stream. */
function stream(change: (response: Response) => void) {
  return before((request, response) => {
    if (request.path.endsWith("/notices")) change(response);
  });
}

/** Express applications with one mistake each, in what `auth.eventStream` needs of the framework. */
export const brokenEventStreams: readonly BrokenApplication[] = [
  {
    name: "drops the headers that the handler has set",
    breaks: [area, "eventStream sends events"],
    ...patched((auth) => ({
      eventStream(request, response) {
        response.removeHeader("X-Own");
        return auth.eventStream(request, response);
      },
    })),
  },
  {
    name: "keeps the response to a stream open when the session has ended",
    breaks: [area, "at the end of the session"],
    ...stream((response) => {
      response.end = () => response;
    }),
  },
  {
    name: "does not tell a stream that the browser has left",
    breaks: [area, "when the browser leaves"],
    ...patched((auth) => ({
      async eventStream(request, response) {
        const opened = await auth.eventStream(request, response);
        return { ...opened, signal: new AbortController().signal };
      },
    })),
  },
  {
    name: "takes whatever a stream sends, whether the browser reads or not",
    breaks: [area, "a browser that does not read"],
    ...stream((response) => {
      const write = response.write.bind(response) as (chunk: unknown) => boolean;
      response.write = ((chunk: unknown) => {
        write(chunk);
        return true;
      }) as typeof response.write;
    }),
  },
  {
    name: "responds to HEAD for a stream itself",
    breaks: [area, "HEAD has the headers"],
    first(request, response, next) {
      if (request.method === "HEAD") response.status(204).end();
      else next();
    },
  },
  {
    name: "opens a stream for everybody",
    breaks: [area, "eventStream rejects"],
    ...patched(() => ({
      eventStream(_request, response) {
        response.end();
        return Promise.resolve({} as EventStream);
      },
    })),
  },
  {
    name: "goes on streaming after close",
    breaks: [area, "close and auth.close"],
    ...patched(() => ({ close: () => Promise.resolve() })),
  },
];
