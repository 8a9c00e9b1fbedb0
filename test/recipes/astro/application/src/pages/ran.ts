import { ran } from "../ran";

export const GET = () => Response.json(ran);
