import { memoryStore } from "idpauth";

/** In place of the Redis or the PostgreSQL that a service's processes share. */
export const store = memoryStore();
