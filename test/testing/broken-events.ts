import type { Response } from "express";
import { before, type BrokenApplication } from "./broken-adapters.js";

const area = "events";

/** Changes the response to the request for the event stream. */
function stream(change: (response: Response) => void) {
  return before((request, response) => {
    if (request.path.endsWith("/events")) change(response);
  });
}

/** Express applications with one mistake each, in what an event stream needs of the framework. */
export const brokenEvents: readonly BrokenApplication[] = [
  {
    name: "replaces the Cache-Control of every response",
    breaks: [area, "the event stream begins at once"],
    ...stream((response) => {
      const setHeader = response.setHeader.bind(response);
      response.setHeader = (name: string, value: never) =>
        setHeader(name, name === "Cache-Control" ? "no-store" : value);
    }),
  },
  {
    name: "sends a response in parts of four kilobytes",
    breaks: [area, "a comment arrives"],
    ...stream((response) => {
      const write = response.write.bind(response) as (chunk: unknown) => boolean;
      let isFirst = true;
      response.write = ((chunk: unknown) => {
        if (isFirst) write(chunk);
        isFirst = false;
        return true;
      }) as typeof response.write;
    }),
  },
  {
    name: "keeps a response open when it is complete",
    breaks: [area, "at the end of the session"],
    ...stream((response) => {
      response.end = () => response;
    }),
  },
  {
    name: "does not tell that the browser has left",
    breaks: [area, "a ninth stream"],
    ...stream((response) => {
      const emit = response.emit.bind(response);
      response.emit = (name: string, ...rest: unknown[]) => name !== "close" && emit(name, ...rest);
    }),
  },
  {
    name: "responds to HEAD itself",
    breaks: [area, "HEAD has the headers"],
    first(request, response, next) {
      if (request.method === "HEAD") response.status(204).end();
      else next();
    },
  },
];
