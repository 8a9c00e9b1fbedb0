import { createHash } from "node:crypto";

/** A Lua script. The store sends its hash first, because the server keeps scripts. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

/**
 * Every script touches one key, so that it runs on a Cluster. A client may run a script after the
 * store has rejected the operation, or twice. Each script is harmless then:
 *
 * | Script | When it runs late or again |
 * |---|---|
 * | INSERT | The key is new and no browser has it. An existing key stays as it is. |
 * | REPLACE | The version differs after any other write, and a deleted key stays deleted. |
 * | TOUCH | Both stamps move forward only, and a deleted key stays deleted. |
 * | DELETE | A key is never used again, so the script removes what the caller wanted to remove. |
 * | INDEX | Scores move forward only. Readers of the index check each record. |
 *
 * Versions are random. A write that finds its own version is the same write, sent twice, and
 * reports success. Positions are those of entry-format.ts; GETRANGE and SETRANGE count from 0,
 * string.sub counts from 1.
 */
function script(body: string): RedisScript {
  const source = `${body.trim()}\n`;
  return { source, sha1: createHash("sha1").update(source).digest("hex") };
}

/** Reads the head. Ends the script if the key is missing or has another format. */
const READ_HEAD = `
local head = redis.call('GETRANGE', KEYS[1], 0, 78)
if head == '' then return {0} end
if #head < 79 or string.sub(head, 1, 1) ~= '1' then
  return redis.error_reply('IDPAUTHFORMAT another version of idpauth wrote this entry')
end`;

/**
 * In milliseconds. The server keeps a key through its last millisecond, and the entry ends at
 * `expiresAt` itself.
 */
const EXPIRY = `
local function expiry(seconds)
  return string.format('%.0f', math.max(1, tonumber(seconds) * 1000 - 1))
end`;

/** ARGV: value. Returns {1}: written; {0}: the key exists. */
export const INSERT = script(`
${EXPIRY}
local head = redis.call('GETRANGE', KEYS[1], 0, 22)
if head == '' then
  redis.call('SET', KEYS[1], ARGV[1], 'PXAT', expiry(string.sub(ARGV[1], 24, 39)))
  return {1}
end
if string.sub(head, 2, 23) == string.sub(ARGV[1], 2, 23) then return {1} end
return {0}
`);

/**
 * ARGV: value, version to replace, end of the entries of its subject and sid in their indexes.
 * Returns {1}: written; {0}: changed or gone; {2, expiresAt, subject, sid}: nothing written, because
 * a touch has moved expiresAt: index both until then first.
 */
export const REPLACE = script(`
${EXPIRY}
${READ_HEAD}
local value = ARGV[1]
local version = string.sub(head, 2, 23)
if version == string.sub(value, 2, 23) then return {1} end
if version ~= ARGV[2] then return {0} end
local expires = string.sub(head, 24, 39)
if tonumber(string.sub(value, 24, 39)) > tonumber(expires) then expires = string.sub(value, 24, 39) end
local active = string.sub(head, 40, 55)
local given = tonumber(string.sub(value, 40, 55))
if given and given > (tonumber(active) or -1) then active = string.sub(value, 40, 55) end
local subject = tonumber(string.sub(value, 56, 63)) or 0
local both = subject + (tonumber(string.sub(value, 64, 71)) or 0)
if both > 0 and tonumber(ARGV[3]) < tonumber(expires) then
  local hashes = string.sub(value, 80, 79 + both)
  return {2, expires, string.sub(hashes, 1, subject), string.sub(hashes, subject + 1)}
end
redis.call('SET', KEYS[1], string.sub(value, 1, 23) .. expires .. active .. string.sub(value, 56), 'PXAT', expiry(expires))
return {1}
`);

/**
 * ARGV: lastActive or '', expiresAt, '', subject and sid that their indexes have until then.
 * Returns {1}: moved where later; {0}: gone; {2, expiresAt, subject, sid}: expiresAt not moved,
 * index both until then first.
 */
export const TOUCH = script(`
${EXPIRY}
${READ_HEAD}
local given = tonumber(ARGV[1])
if given and given > (tonumber(string.sub(head, 40, 55)) or -1) then redis.call('SETRANGE', KEYS[1], 39, ARGV[1]) end
if tonumber(ARGV[2]) > tonumber(string.sub(head, 24, 39)) then
  local length = tonumber(string.sub(head, 56, 63)) or 0
  local both = length + (tonumber(string.sub(head, 64, 71)) or 0)
  if both > 0 then
    local hashes = redis.call('GETRANGE', KEYS[1], 79, 78 + both)
    local subject, sid = string.sub(hashes, 1, length), string.sub(hashes, length + 1)
    if subject ~= ARGV[4] or sid ~= ARGV[5] then return {2, ARGV[2], subject, sid} end
  end
  redis.call('SETRANGE', KEYS[1], 23, ARGV[2])
  redis.call('PEXPIREAT', KEYS[1], expiry(ARGV[2]))
end
return {1}
`);

/** Returns the value that was stored, or nil. */
export const DELETE = script(`
local value = redis.call('GET', KEYS[1])
if value then redis.call('DEL', KEYS[1]) end
return value
`);

/**
 * The index of one subject or sid. ARGV: session key, expiresAt. Removes expired members, and
 * expires with its last member.
 */
export const INDEX = script(`
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], 'GT', ARGV[2], ARGV[1])
redis.call('EXPIREAT', KEYS[1], redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2])
return 1
`);
