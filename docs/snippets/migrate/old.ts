import type { Request } from "express";

/** What is left of the old library. */
export const old = {
  /** Returns the user id in the old session. A test replaces it. */
  async userId(req: Request): Promise<string | undefined> {
    return Promise.resolve(req.get("X-Old-User"));
  },
  /** Deletes the old session, if a database has it. A test replaces it. */
  async endSession(_req: Request): Promise<void> {
    return Promise.resolve();
  },
};
