const PART = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
/** "idpauth" in ASCII: one lock for all migrations of one database. */
const MIGRATION_LOCK = "29665306388821096";
/** Rows that one statement of the sweep removes at the most: some milliseconds. */
export const SWEEP_SLICE = 500;

/**
 * A table's name, quoted for SQL. Quoted names keep their case: `Sessions` is not `sessions`.
 *
 * @throws TypeError when the name is not one or two parts (`table` or `schema.table`), each of at most 63 letters, digits
 *   and underscores that do not begin with a digit
 */
export function quotedTable(table: string): string {
  const parts = typeof table === "string" ? table.split(".") : [];
  if (parts.length < 1 || parts.length > 2 || !parts.every((part) => PART.test(part))) {
    throw new TypeError('postgresStore: table must be "name" or "schema.name", of letters, digits and underscores.');
  }
  return parts.map((part) => `"${part}"`).join(".");
}

/**
 * The SQL that makes the store's table: one statement, which does all or nothing, and nothing when the table is there. It can
 * run in a migration tool's transaction, through a transaction-mode pooler, and in many processes at once. The schema must
 * exist. The role that the application uses needs SELECT, INSERT, UPDATE and DELETE on the table, and no more.
 *
 * What is unusual in it serves one end: stamping a session's last activity, which happens all the time, must not write the
 * session's data again.
 *
 * - `data` is kept out of line (TOAST), where an update that does not mention it leaves it alone. PostgreSQL moves nothing
 *   out of a row that is shorter than about 2 KB, so `spacer` makes each row longer than that for the moment in which this is
 *   decided; it is then compressed to some 35 bytes. The other columns are kept in the row (MAIN).
 * - No index holds `last_active`, and pages are filled to 70 %, so that the new row version finds room in its page and no
 *   index is written (heap-only tuples).
 *
 * @param table as for `postgresStore`
 * @throws TypeError when the table's name is none
 */
export function postgresMigration(table = "idpauth_sessions"): string {
  const name = quotedTable(table);
  return `DO $idpauth$
BEGIN
  PERFORM pg_advisory_xact_lock(${MIGRATION_LOCK});
  IF to_regclass('${name}') IS NULL THEN
    CREATE TABLE ${name} (
      key text COLLATE "C" PRIMARY KEY,
      version uuid NOT NULL,
      expires_at double precision NOT NULL,
      last_active double precision,
      subject text COLLATE "C",
      summary bytea,
      data bytea NOT NULL,
      spacer text NOT NULL GENERATED ALWAYS AS (repeat(' ', 2048)) STORED
    ) WITH (fillfactor = 70, toast_tuple_target = 128);
    ALTER TABLE ${name}
      ALTER COLUMN data SET STORAGE EXTERNAL,
      ALTER COLUMN key SET STORAGE MAIN,
      ALTER COLUMN subject SET STORAGE MAIN,
      ALTER COLUMN summary SET STORAGE MAIN,
      ALTER COLUMN spacer SET STORAGE MAIN;
    CREATE INDEX ON ${name} (expires_at);
    CREATE INDEX ON ${name} (subject) WHERE subject IS NOT NULL;
  END IF;
END
$idpauth$;
`;
}

/** Each method's statement. Every one is complete in itself, so any connection will do, and none keeps a transaction open. */
export interface Statements {
  /** key, now */
  readonly get: string;
  /** key, now, expiresAt, lastActive, subject, summary, data */
  readonly insert: string;
  /** key, now, expiresAt, lastActive, subject, summary, data, version */
  readonly replace: string;
  /** key, now, expiresAt, lastActive */
  readonly touch: string;
  /** key, now */
  readonly remove: string;
  /** subject, now */
  readonly listBySubject: string;
  /** now */
  readonly sweep: string;
}

/**
 * Why each of them is one atomic step, under READ COMMITTED: an UPDATE or DELETE that meets a row which another transaction
 * has just changed waits for that one, takes the row's newest version, and asks its whole WHERE clause again of it before it
 * writes; SET, too, is computed from that newest version. So of two `replace` with one version the second finds another
 * version; a `touch` or `replace` that waited for a `delete` finds no row, and none of the two can make one; stamps move from
 * whatever is newest. `insert` is decided by the primary key: it locks the row in the way and asks its WHERE clause of that
 * row's newest version. Under a stricter default isolation PostgreSQL refuses the second writer (40001) instead; it is asked again.
 *
 * `now` is null for the server's own clock. That is `clock_timestamp()`, since a statement may have waited for a lock since
 * it began; only the sweep, whose condition an index has to answer, takes the time at which it began.
 *
 * Values come back as text, whatever parsers and formats the application has given its pool.
 */
export function statementsFor(table: string): Statements {
  const name = quotedTable(table);
  const now = (parameter: string, clock = "clock_timestamp()"): string =>
    `COALESCE(${parameter}::float8, extract(epoch FROM ${clock})::float8)`;
  const columns = "version::text, expires_at::text, last_active::text, subject, encode(summary, 'base64'), encode(data, 'base64')";
  return {
    get: `SELECT ${columns} FROM ${name} WHERE key = $1 AND expires_at > ${now("$2")}`,
    insert: `INSERT INTO ${name} AS present (key, version, expires_at, last_active, subject, summary, data)
VALUES ($1, gen_random_uuid(), $3::float8, $4::float8, $5, $6::bytea, $7::bytea)
ON CONFLICT (key) DO UPDATE SET version = excluded.version, expires_at = excluded.expires_at, last_active = excluded.last_active,
  subject = excluded.subject, summary = excluded.summary, data = excluded.data
WHERE present.expires_at <= ${now("$2")}`,
    // GREATEST leaves out what is null.
    replace: `UPDATE ${name} SET version = gen_random_uuid(), expires_at = GREATEST(expires_at, $3::float8),
  last_active = GREATEST(last_active, $4::float8), subject = $5, summary = $6::bytea, data = $7::bytea
WHERE key = $1 AND version::text = $8 AND expires_at > ${now("$2")}`,
    touch: `UPDATE ${name} SET expires_at = GREATEST(expires_at, $3::float8), last_active = GREATEST(last_active, $4::float8)
WHERE key = $1 AND expires_at > ${now("$2")}`,
    remove: `DELETE FROM ${name} WHERE key = $1 RETURNING ${columns}, (expires_at > ${now("$2")})::text`,
    listBySubject: `SELECT key FROM ${name} WHERE subject = $1 AND expires_at > ${now("$2")}`,
    // Rows that somebody else works on are left for the next time, so that the sweep waits for nobody.
    sweep: `DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM ${name} WHERE expires_at <= ${now("$1", "statement_timestamp()")}
  ORDER BY expires_at LIMIT ${SWEEP_SLICE} FOR UPDATE SKIP LOCKED
)) AND expires_at <= ${now("$1", "statement_timestamp()")}`,
  };
}
