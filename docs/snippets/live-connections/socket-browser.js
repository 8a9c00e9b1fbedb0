import { openSocket } from "idpauth/client/streams";

const socket = openSocket("/api/ws");
socket.addEventListener("open", () => socket.send("hello")); // again after each reconnection
socket.addEventListener("message", ({ data }) => console.log(data));

const { reason } = await socket.ended;
console.log(`No more messages: ${reason}`);
