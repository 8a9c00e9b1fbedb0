import { Pool } from "pg";

/** The application's database. It connects at the first query. */
export const pool = new Pool();
