import { ran } from "../ran.server";

export function loader() {
  ran.push("report");
  return Response.json("MEMBERS ONLY");
}

export function action() {
  ran.push("report action");
  return Response.json("MEMBERS ONLY");
}
