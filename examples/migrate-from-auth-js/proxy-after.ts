import type { NextProxy } from "next/server";
import { auth } from "./lib/auth";

export const proxy: NextProxy = async (request, event) => {
  const result = await auth.proxy(request, event);
  const response = new Response(result.body, result);
  for (const { name } of request.cookies.getAll()) {
    if (!/^(__Secure-|__Host-)?(authjs|next-auth)\./.test(name)) continue;
    const secure = name.startsWith("__") ? "; Secure" : "";
    response.headers.append("set-cookie", `${name}=; Path=/; Max-Age=0${secure}`);
  }
  return response;
};
export const config = { matcher: ["/reports/:path*"] }; // your own matcher
