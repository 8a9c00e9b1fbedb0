import { auth } from "../../../../lib/auth";

// What the browser sends goes to the API, with the user's access token.
export const POST = auth.proxyApi("orders");
