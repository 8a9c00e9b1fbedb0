import { Inject } from "@nestjs/common";
import {
  ConnectedSocket,
  SubscribeMessage,
  WebSocketGateway,
  type OnGatewayConnection,
  type OnGatewayInit,
} from "@nestjs/websockets";
import type { Request } from "express";
import type { ExpressIdpAuth } from "idpauth/express";
import type { Server, Socket } from "socket.io";
import { IDP_AUTH } from "../idp-auth/idp-auth.module.js";

const ORIGIN = new URL(process.env["BASE_URL"] ?? "").origin;

@WebSocketGateway({
  transports: ["websocket"],
  allowRequest: (request, done) => {
    done(null, request.headers.origin === ORIGIN);
  },
})
export class NoticesGateway implements OnGatewayInit, OnGatewayConnection {
  @Inject(IDP_AUTH) private readonly auth!: ExpressIdpAuth;

  /** Guards the handshake of every connection, and ends it if the browser stays after its session. */
  afterInit(server: Server): void {
    // Without a listener, a connection that breaks off during the handshake ends the process.
    server.httpServer.prependListener("upgrade", (_request, connection) => {
      connection.on("error", () => connection.destroy());
    });
    server.engine.use(this.auth.idpRequired);
    server.engine.use((request: Request, _response: unknown, next: () => void) => {
      const destroy = () => setTimeout(() => request.socket.destroy(), 1000);
      this.auth.whenEnded(request).addEventListener("abort", destroy, { once: true });
      next();
    });
  }

  handleConnection(socket: Socket): void {
    const ended = this.auth.whenEnded(socket.request as Request);
    const close = (): void => void socket.disconnect(true);
    if (ended.aborted) close();
    else ended.addEventListener("abort", close, { once: true });
  }

  @SubscribeMessage("hello")
  async hello(@ConnectedSocket() socket: Socket): Promise<string> {
    const session = await this.auth.getSession(socket.request as Request);
    return `Hello, ${session?.user.name ?? "stranger"}.`;
  }
}
