import { auth } from "../../../lib/auth";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = auth.handlers;
