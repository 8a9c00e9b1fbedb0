import { LIST_PAGE } from "../stored-entries.js";

const PART = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
/** "idpauth" in ASCII: one lock for all migrations of a database. */
const MIGRATION_LOCK = "29665306388821096";
/** Maximum number of rows that one statement of the sweep removes, within some milliseconds. */
export const SWEEP_SLICE_ROWS = 500;

/**
 * Returns a table's name, quoted for SQL. A quoted name is case-sensitive: `Sessions` is not
 * `sessions`.
 *
 * @throws TypeError unless the name has one or two parts (`table` or `schema.table`), each of at
 *   most 63 letters, digits and underscores that do not begin with a digit
 */
export function quotedTable(table: string): string {
  const parts = typeof table === "string" ? table.split(".") : [];
  if (parts.length < 1 || parts.length > 2 || !parts.every((part) => PART.test(part))) {
    throw new TypeError(
      'postgresStore: table must be "name" or "schema.name", of letters, digits and underscores.',
    );
  }
  return parts.map((part) => `"${part}"`).join(".");
}

/**
 * Returns the SQL that creates the store's table: one statement that does everything or nothing,
 * and nothing if the table exists. It can run in a migration tool's transaction, through a pooler
 * in transaction mode, and in many processes at once. The schema must exist. The application's role
 * needs SELECT, INSERT, UPDATE and DELETE on the table.
 *
 * The layout keeps a stamp of the last activity cheap. Stamps are frequent, and must not write the
 * session's data again:
 *
 * - `data` is stored out of line (TOAST), so that an update of other columns does not copy it.
 *   PostgreSQL moves nothing out of a row shorter than about 2 KB. So `spacer` makes each row
 *   longer until PostgreSQL has decided; compressed it takes some 35 bytes. The other columns stay
 *   in the row (MAIN).
 * - No index contains `last_active`, and pages are filled to 70 %. So the new row version fits into
 *   its page, and PostgreSQL writes no index (heap-only tuples).
 *
 * @param table as for `postgresStore`
 * @throws TypeError if the name is not valid
 *
 * @example
 * import { Pool } from "pg";
 * await new Pool().query(postgresMigration());
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
      sid text COLLATE "C",
      summary bytea,
      data bytea NOT NULL,
      spacer text NOT NULL GENERATED ALWAYS AS (repeat(' ', 2048)) STORED
    ) WITH (fillfactor = 70, toast_tuple_target = 128);
    ALTER TABLE ${name}
      ALTER COLUMN data SET STORAGE EXTERNAL,
      ALTER COLUMN key SET STORAGE MAIN,
      ALTER COLUMN subject SET STORAGE MAIN,
      ALTER COLUMN sid SET STORAGE MAIN,
      ALTER COLUMN summary SET STORAGE MAIN,
      ALTER COLUMN spacer SET STORAGE MAIN;
    CREATE INDEX ON ${name} (expires_at);
    CREATE INDEX ON ${name} (subject, key) WHERE subject IS NOT NULL;
    CREATE INDEX ON ${name} (sid, key) WHERE sid IS NOT NULL;
  END IF;
END
$idpauth$;
`;
}

/**
 * Returns the statement of each method, with its parameters. Each is one atomic step under READ
 * COMMITTED. If an UPDATE or DELETE meets a row that another transaction has just changed, it
 * waits, takes the newest version of the row, and checks its WHERE clause again. SET uses that
 * newest version, too. So the second of two `replace` with one version finds another version. A
 * `touch` or `replace` after a `delete` finds no row. Stamps move from the newest values. The
 * primary key decides an `insert`: it locks the existing row and checks WHERE on its newest
 * version. Under a stricter default isolation PostgreSQL refuses the second writer (40001), and the
 * store sends the statement again.
 *
 * `now` is null for the server's clock. That is `clock_timestamp()`, because a statement may have
 * waited for a lock. The sweep needs a condition that an index can use, so it takes the time at
 * which its statement began.
 */
export function sqlFor(table: string) {
  const name = quotedTable(table);
  const now = (parameter: string, clock = "clock_timestamp()"): string =>
    `COALESCE(${parameter}::float8, extract(epoch FROM ${clock})::float8)`;
  const columns =
    "version::text, expires_at::text, last_active::text, subject, sid, encode(summary, 'base64'), encode(data, 'base64')";
  const pageWhere = (field: string): string =>
    `SELECT ${columns}, key FROM ${name} WHERE ${field} = $1 AND key > $3 AND expires_at > ${now("$2")} ORDER BY key LIMIT ${LIST_PAGE}`;
  return {
    migrate: postgresMigration(table),
    /** key, now */
    get: `SELECT ${columns} FROM ${name} WHERE key = $1 AND expires_at > ${now("$2")}`,
    /** keys as an array, now; the key is the last column */
    getMany: `SELECT ${columns}, key FROM ${name} WHERE key = ANY ($1::text[]) AND expires_at > ${now("$2")}`,
    /** key, now, expiresAt, lastActive, subject, sid, summary, data */
    insert: `INSERT INTO ${name} AS present (key, version, expires_at, last_active, subject, sid, summary, data)
VALUES ($1, gen_random_uuid(), $3::float8, $4::float8, $5, $6, $7::bytea, $8::bytea)
ON CONFLICT (key) DO UPDATE SET version = excluded.version, expires_at = excluded.expires_at, last_active = excluded.last_active,
  subject = excluded.subject, sid = excluded.sid, summary = excluded.summary, data = excluded.data
WHERE present.expires_at <= ${now("$2")}`,
    /**
     * key, now, expiresAt, lastActive, subject, sid, summary, data, version. GREATEST leaves out
     * what is null.
     */
    replace: `UPDATE ${name} SET version = gen_random_uuid(), expires_at = GREATEST(expires_at, $3::float8),
  last_active = GREATEST(last_active, $4::float8), subject = $5, sid = $6, summary = $7::bytea, data = $8::bytea
WHERE key = $1 AND version::text = $9 AND expires_at > ${now("$2")}`,
    /** key, now, expiresAt, lastActive */
    touch: `UPDATE ${name} SET expires_at = GREATEST(expires_at, $3::float8), last_active = GREATEST(last_active, $4::float8)
WHERE key = $1 AND expires_at > ${now("$2")}`,
    /** key, now */
    remove: `DELETE FROM ${name} WHERE key = $1 RETURNING ${columns}, (expires_at > ${now("$2")})::text`,
    /** subject, now, the last key of the previous page; the key is the last column */
    listBySubject: pageWhere("subject"),
    /** sid, now, the last key of the previous page; the key is the last column */
    listBySid: pageWhere("sid"),
    /** now. The sweep leaves locked rows for the next time, so it never waits. */
    sweep: `DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM ${name} WHERE expires_at <= ${now("$1", "statement_timestamp()")}
  ORDER BY expires_at LIMIT ${SWEEP_SLICE_ROWS} FOR UPDATE SKIP LOCKED
)) AND expires_at <= ${now("$1", "statement_timestamp()")}`,
  };
}
