import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * Stands before a server, and can lose the connections that it has, as a NAT does that has dropped
 * the flow.
 */
export interface SilentProxy {
  readonly port: number;
  /** How many connections it has been asked for. */
  accepted(): number;
  /**
   * Nothing that is sent on the present connections arrives any more, nor is anybody told; new ones
   * work.
   */
  silence(): void;
  stop(): Promise<void>;
}

export async function startSilentProxy(target: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  const silencers: (() => void)[] = [];
  let accepted = 0;
  // Half open: a silent connection does not answer that it is being closed either.
  const server = createServer({ allowHalfOpen: true }, (near) => {
    accepted += 1;
    const far = connect({ port: target, host: "127.0.0.1", allowHalfOpen: true });
    let isSilent = false;
    const ways = [
      [near, far],
      [far, near],
    ] as const;
    for (const [from, to] of ways) {
      sockets.add(from);
      from.on("data", (chunk) => isSilent || to.write(chunk));
      from.on("end", () => isSilent || to.end());
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        if (!isSilent) to.destroy();
      });
    }
    silencers.push(() => {
      isSilent = true;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    silence() {
      for (const silencer of silencers.splice(0)) silencer();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
