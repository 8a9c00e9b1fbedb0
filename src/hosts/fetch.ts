export { toResponse, WebRequest } from "./fetch-message.js";
