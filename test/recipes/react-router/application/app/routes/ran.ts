import { ran } from "../ran.server";

export const loader = () => Response.json(ran);
