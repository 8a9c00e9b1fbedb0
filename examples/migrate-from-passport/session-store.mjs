// Keeps the sessions of express-session in SQLite, so that the example needs no server. In
// production, this is a store such as connect-redis.
import session from "express-session";
import { database } from "./users.mjs";

database.exec("create table if not exists sessions (sid text primary key, data text, expires int)");

export class SqliteSessions extends session.Store {
  get(sid, done) {
    const row = database
      .prepare("select data from sessions where sid = ? and expires > ?")
      .get(sid, Date.now());
    done(null, row && JSON.parse(row.data));
  }

  set(sid, data, done) {
    database
      .prepare("insert or replace into sessions values (?, ?, ?)")
      .run(sid, JSON.stringify(data), Date.now() + data.cookie.maxAge);
    done?.(null);
  }

  destroy(sid, done) {
    database.prepare("delete from sessions where sid = ?").run(sid);
    done?.(null);
  }
}
