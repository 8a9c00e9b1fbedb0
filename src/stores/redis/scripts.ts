import { createHash } from "node:crypto";

/** A Lua script; the server is asked by its hash first, since it keeps what it has once been given. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

/**
 * Each script touches one key, so that it runs on a Cluster, and begins with its permit: the store takes it back when it
 * gives up. What a client still holds in some queue then does nothing, however late it is sent.
 *
 * Positions are those of redis-value.ts; GETRANGE and SETRANGE count from 0, string.sub from 1. Versions are random, so a
 * write that finds its own version already there is the same write, sent twice.
 */
function script(body: string): RedisScript {
  const source = `if ARGV[1] ~= '1' then return redis.error_reply('IDPAUTHLATE the caller has given up') end\n${body.trim()}\n`;
  return { source, sha1: createHash("sha1").update(source).digest("hex") };
}

/** The head of what is there; leaves the script when there is nothing, or something that another format wrote. */
const READ_HEAD = `
local head = redis.call('GETRANGE', KEYS[1], 0, 70)
if head == '' then return {0} end
if #head < 71 or string.sub(head, 1, 1) ~= '1' then
  return redis.error_reply('IDPAUTHFORMAT another version of idpauth wrote this entry')
end`;

/** In milliseconds; from `expiresAt` itself on the entry is gone, and the server keeps a key through its last millisecond. */
const EXPIRY = `
local function expiry(seconds)
  return string.format('%.0f', math.max(1, tonumber(seconds) * 1000 - 1))
end`;

/**
 * ARGV: permit, value. Gives 1: written; 0: the key exists.
 */
export const INSERT = script(`
${EXPIRY}
local head = redis.call('GETRANGE', KEYS[1], 0, 22)
if head == '' then
  redis.call('SET', KEYS[1], ARGV[2], 'PXAT', expiry(string.sub(ARGV[2], 24, 39)))
  return 1
end
if string.sub(head, 2, 23) == string.sub(ARGV[2], 2, 23) then return 1 end
return 0
`);

/**
 * ARGV: permit, version to replace, value, until when the value's subject has been indexed. Gives {1}: written; {0}: changed
 * or gone; {2, expiresAt}: nothing written yet, since the subject has to be indexed until then first.
 */
export const REPLACE = script(`
${EXPIRY}
${READ_HEAD}
local value = ARGV[3]
local version = string.sub(head, 2, 23)
if version == string.sub(value, 2, 23) then return {1} end
if version ~= ARGV[2] then return {0} end
local expires = string.sub(head, 24, 39)
local moved = tonumber(string.sub(value, 24, 39)) > tonumber(expires)
if moved then expires = string.sub(value, 24, 39) end
local active = string.sub(head, 40, 55)
local given = tonumber(string.sub(value, 40, 55))
if given and given > (tonumber(active) or -1) then active = string.sub(value, 40, 55) end
local length = tonumber(string.sub(value, 56, 63))
if length and tonumber(ARGV[4]) < tonumber(expires) then
  local same = tonumber(string.sub(head, 56, 63)) == length
    and redis.call('GETRANGE', KEYS[1], 71, 70 + length) == string.sub(value, 72, 71 + length)
  if moved or not same then return {2, expires} end
end
redis.call('SET', KEYS[1], string.sub(value, 1, 23) .. expires .. active .. string.sub(value, 56), 'PXAT', expiry(expires))
return {1}
`);

/**
 * ARGV: permit, lastActive or nothing, expiresAt, the subject that has been indexed until then. Gives {1}: moved where later;
 * {0}: gone; {2, subject}: expiresAt not moved yet, since this subject has to be indexed until then first.
 */
export const TOUCH = script(`
${EXPIRY}
${READ_HEAD}
local given = tonumber(ARGV[2])
if given and given > (tonumber(string.sub(head, 40, 55)) or -1) then redis.call('SETRANGE', KEYS[1], 39, ARGV[2]) end
if tonumber(ARGV[3]) > tonumber(string.sub(head, 24, 39)) then
  local length = tonumber(string.sub(head, 56, 63))
  if length and length > 0 then
    local subject = redis.call('GETRANGE', KEYS[1], 71, 70 + length)
    if subject ~= ARGV[4] then return {2, subject} end
  end
  redis.call('SETRANGE', KEYS[1], 23, ARGV[3])
  redis.call('PEXPIREAT', KEYS[1], expiry(ARGV[3]))
end
return {1}
`);

/** ARGV: permit. Gives what was there, or nothing. */
export const DELETE = script(`
local value = redis.call('GET', KEYS[1])
if value then redis.call('DEL', KEYS[1]) end
return value
`);

/**
 * The index of one subject: ARGV: permit, session key, expiresAt. Drops what has expired, and lives as long as its last
 * member.
 */
export const INDEX = script(`
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], 'GT', ARGV[3], ARGV[2])
redis.call('EXPIREAT', KEYS[1], redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2])
return 1
`);
