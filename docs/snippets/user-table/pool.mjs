import { Pool } from "pg";

/** The application's database. It connects at the first query. */
export const pool = new Pool();
// Without a listener, a lost connection ends the process.
pool.on("error", (error) => console.error(error));
