import { defineAction } from "astro:actions";
import { auth } from "../auth";
import { ran } from "../ran";

async function run(what: string, request: Request) {
  ran.push(what);
  await auth.requireSession(request);
  return "MEMBERS ONLY";
}

export const server = {
  rename: defineAction({ handler: (_, { request }) => run("action", request) }),
  send: defineAction({ accept: "form", handler: (_, { request }) => run("form action", request) }),
  members: { remind: defineAction({ handler: (_, { request }) => run("nested action", request) }) },
};
