// Requests per second of a peer's guarded page and of its probe, as ratios of its own bare
// framework, and the memory of both.
import { interleave, median, ratio } from "../rounds.mjs";
import { startChild } from "../children.mjs";
import { withStage } from "./stage.mjs";

const CONNECTIONS = 32;
const WARM_MILLISECONDS = 2_000;
/** The load always sends the cookies of the sign-in, so no refresh may come between. */
const ALONE = { processes: 1, refreshSeconds: 900 };

/**
 * @param {import("./peer.mjs").Peer} peer
 * @param {{ rounds: number, milliseconds: number }} settings
 */
export async function measureThroughput(peer, { rounds, milliseconds }) {
  const load = await startChild("load.mjs");
  try {
    return await withStage(peer, ALONE, async (stage) => {
      stage.tokensLive(false);
      const browser = await stage.signedIn();
      const [application] = stage.instances;
      const bare = await stage.startBare();
      const cookies = [browser.cookies.header(new URL(stage.front.origin))];
      const { probe } = peer.paths;
      const targets = {
        page: { port: application.port, path: "/page", cookies, part: browser.sub },
        barePage: { port: bare.port, path: "/page", part: "ada" },
        ...(probe !== undefined && {
          probe: { port: application.port, path: probe, cookies, part: browser.sub },
          bareProbe: { port: bare.port, path: "/session", part: "ada" },
        }),
      };
      const round = async (name, time) => {
        const { failed, sample, perSecond } = await load.call("round", {
          name,
          connections: CONNECTIONS,
          milliseconds: time,
        });
        if (failed > 0) throw new Error(`${name}: ${failed} failed requests, such as\n${sample}`);
        return perSecond;
      };
      // A process is several times slower before its code is compiled.
      for (const [name, target] of Object.entries(targets)) {
        await load.call("target", { name, ...target });
        await round(name, WARM_MILLISECONDS / 2);
      }
      const values = await interleave(
        Object.fromEntries(
          Object.keys(targets).map((name) => [name, () => round(name, milliseconds)]),
        ),
        rounds,
      );
      return {
        page: compared(values.page, values.barePage),
        probe: probe === undefined ? undefined : compared(values.probe, values.bareProbe),
        memory: { application: application.memory(), bare: bare.memory() },
      };
    });
  } finally {
    load.stop();
  }
}

function compared(values, bare) {
  return { ...ratio(values, bare), perSecond: median(values), bare: median(bare) };
}
