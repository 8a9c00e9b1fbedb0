import { io } from "socket.io-client";
import { createClient } from "idpauth/client";

const auth = createClient(); // the client that the rest of your page uses
const socket = io({ transports: ["websocket"] });

socket.on("hello", (name) => console.log(name));
socket.on("disconnect", async (reason) => {
  if (reason !== "io server disconnect") return; // Socket.IO reconnects by itself
  const { status } = await auth.refresh();
  if (status === "signed-in") socket.connect(); // the session continues: the process has stopped
});
socket.on("connect_error", async () => {
  const { status } = await auth.refresh();
  if (status !== "signed-in") socket.disconnect(); // otherwise the client tries again and again
});
