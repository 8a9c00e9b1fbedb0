import { ran } from "../../ran";

export const ALL = () => {
  ran.push("endpoint");
  return Response.json("MEMBERS ONLY");
};
