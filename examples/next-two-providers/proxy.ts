import { auth } from "./lib/auth";

export const proxy = auth.proxy;
export const config = { matcher: ["/orders", "/payroll"] };
