import { defineEventHandler } from "h3";
import { ran } from "../ran";

export default defineEventHandler(() => ran);
