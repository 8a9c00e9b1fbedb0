import type { NextRequest } from "next/server";
import { firstAuth } from "../../../lib/auth";
import { eventResponse } from "../../../lib/event-stream";

/** As in docs/how-to/live-connections.md, except that the setup gives `auth`. */
export async function GET(request: NextRequest): Promise<Response> {
  const auth = await firstAuth();
  const handler = auth.idpRequired((request) => eventResponse(auth.whenEnded(request)));
  return handler(request);
}
