import type { Request } from "express";
import { NodeRequest } from "../node/node.js";

type IsTrusted = (address: string | undefined, hop: number) => boolean;

/** A request of Express: that of node:http, with Express's original URL and its setting `trust proxy`. */
export class ExpressRequest extends NodeRequest<Request> {
  /** Routers and rewriting middleware change `url`; the browser knows only the original URL. */
  override get target(): string {
    return this.message.originalUrl;
  }

  override get scheme(): "http" | "https" {
    // `protocol` is slower than the connection, and differs only if there is a header that Express may trust.
    if (this.message.headers["x-forwarded-proto"] === undefined) return super.scheme;
    return this.message.protocol === "https" ? "https" : "http";
  }

  /** Includes the port, which `req.host` drops on Express 4. The forwarded host counts only if `trust proxy` says so. */
  override get host(): string | undefined {
    const forwarded = this.message.headers["x-forwarded-host"];
    return typeof forwarded === "string" && this.#trustsProxy ? forwarded.split(",", 1)[0]?.trim() : super.host;
  }

  /** A router without an application has no settings, and trusts no proxy. */
  get #trustsProxy(): boolean {
    const app = this.message.app as Request["app"] | undefined;
    const isTrusted = app?.get("trust proxy fn") as IsTrusted | undefined;
    return isTrusted?.(this.message.socket.remoteAddress, 0) === true;
  }
}
