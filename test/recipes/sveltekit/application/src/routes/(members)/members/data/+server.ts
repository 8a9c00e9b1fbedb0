import { json } from "@sveltejs/kit";
import { ran } from "../../../../ran";

export const fallback = () => {
  ran.push("endpoint");
  return json("MEMBERS ONLY");
};
