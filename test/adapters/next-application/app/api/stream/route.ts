import type { NextRequest } from "next/server";
import { firstAuth } from "../../../lib/auth";
import { notices, sendNotices } from "../../../lib/notices";

/**
 * As in docs/how-to/live-connections.md, except that the setup gives `auth`, and that there is a
 * notice at once.
 */
export async function GET(request: NextRequest): Promise<Response> {
  const auth = await firstAuth();
  const handler = auth.idpRequired(async (request) => {
    const stream = await auth.eventStream(request);
    sendNotices(stream);
    return stream.response;
  });
  const response = await handler(request);
  notices.emit("notice", { id: 1 });
  return response;
}
