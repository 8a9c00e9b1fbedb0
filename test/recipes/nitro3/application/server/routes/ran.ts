import { defineHandler } from "nitro/h3";
import { ran } from "../ran.ts";

export default defineHandler(() => ran);
