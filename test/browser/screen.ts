import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

/** A screen in memory. */
export interface Screen {
  /** The value of the environment variable `DISPLAY`. */
  readonly display: string;
  stop(): Promise<void>;
}

/** @param xvfb the path of Xvfb */
export async function startScreen(xvfb: string): Promise<Screen> {
  const screen = spawn(
    xvfb,
    ["-displayfd", "3", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"],
    {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    },
  );
  const [display] = (await once(screen.stdio[3] as Readable, "data")) as [Buffer];
  return {
    display: `:${display.toString().trim()}`,
    async stop() {
      screen.kill();
      await once(screen, "exit");
    },
  };
}
