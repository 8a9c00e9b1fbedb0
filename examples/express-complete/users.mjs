// @ts-check

/** @typedef {{ readonly iss: string, readonly sub: string }} Subject */

/**
 * Makes the user's row at the first sign-in, and updates it at each later one.
 * @param {import("redis").RedisClientType} redis
 * @param {Subject} subject
 * @param {{ readonly name: string | null, readonly email: string | null }} user
 */
export async function saveUser(redis, subject, { name, email }) {
  await redis.hSet(keyOf(subject), { name: name ?? email ?? "", email: email ?? "" });
}

/** @type {(redis: import("redis").RedisClientType, subject: Subject) => Promise<Record<string, string>>} */
export const findUser = (redis, subject) => redis.hGetAll(keyOf(subject));

/** @param {Subject} subject */
const keyOf = ({ iss, sub }) => `user:${JSON.stringify([iss, sub])}`;
