// Many logins that no user finishes, each without a cookie: the bytes that each leaves in the
// store, and that none is left after ten minutes on the store's clock.
import { startChild } from "../children.mjs";
import { numberRow } from "../report.mjs";
import { clientOf } from "../sign-in.mjs";
import { place, STORE_NAMES, STORES } from "./stores.mjs";

export async function abandoned(context) {
  const { provider, settings } = context;
  const count = settings.abandonedLogins;
  const rows = [];
  const values = {};
  for (const kind of STORES.filter((name) => name !== "ioredis")) {
    console.error(`  ${kind}`);
    const server = await place(kind, context);
    const application = await startChild("store-server.mjs", {
      kind,
      url: server.url,
      provider: clientOf(provider),
    });
    try {
      const { bytesEach, elapsed, longestLife } = await application.call("abandon", { count });
      values[kind] = { bytesEach, elapsed, longestLife };
      rows.push(
        numberRow(
          `${STORE_NAMES[kind].split(",")[0]}: bytes that a login that never finishes takes for ten minutes`,
          bytesEach,
          { atMost: 2_048 },
          `${count.toLocaleString("en-US")} logins, gone after ${longestLife} s at the latest; ${Math.round((count / elapsed) * 1000).toLocaleString("en-US")} logins/s`,
          { unit: "bytes" },
        ),
      );
    } finally {
      application.stop();
      await server.stop();
    }
  }
  return { rows, values };
}
