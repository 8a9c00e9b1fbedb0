import { json } from "@sveltejs/kit";
import { ran } from "../../ran";

export const GET = () => json(ran);
