/** The value of a parameter. Stamps are numbers, encrypted records are bytes. */
export type SqliteValue = string | number | null | Uint8Array;

/**
 * What the store uses of a prepared statement. The last three select the types of results, where a
 * driver has them.
 */
export interface SqliteStatement {
  /** Runs the statement without reading rows. */
  run(...values: SqliteValue[]): {
    /** The number of rows that it wrote or removed. */
    readonly changes: number | bigint;
  };
  /** Returns the first row as an object, or undefined. */
  get(...values: SqliteValue[]): unknown;
  /** Returns every row as an object. */
  all(...values: SqliteValue[]): unknown[];
  /** better-sqlite3; called with false, so that integers are numbers. */
  safeIntegers?(enabled: boolean): unknown;
  /** node:sqlite; called with false, so that integers are numbers. */
  setReadBigInts?(enabled: boolean): unknown;
  /** node:sqlite; called with false, so that rows are objects. */
  setReturnArrays?(enabled: boolean): unknown;
}

/**
 * What the store uses of an open database of `node:sqlite` (`DatabaseSync`) or `better-sqlite3`.
 */
export interface SqliteDatabase {
  /** Compiles one statement. */
  prepare(sql: string): SqliteStatement;
  /** Runs SQL without parameters; the schema is several statements. */
  exec(sql: string): unknown;
}
