export { NodeRequest, soleHost, writeReply } from "./node-message.js";
