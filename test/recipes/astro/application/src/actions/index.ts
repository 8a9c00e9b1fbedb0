import { defineAction } from "astro:actions";
import { ran } from "../ran";

function run(what: string) {
  ran.push(what);
  return "MEMBERS ONLY";
}

export const server = {
  rename: defineAction({ handler: () => run("action") }),
  send: defineAction({ accept: "form", handler: () => run("form action") }),
  members: { remind: defineAction({ handler: () => run("nested action") }) },
};
