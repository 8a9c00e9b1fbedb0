/** The encoding of certificates: DER (ITU-T X.690), as far as X.509 needs it. */

/** The tags of the values below. */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Returns a value with its tag and length. */
export function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

export function sequence(...parts: readonly Buffer[]): Buffer {
  return der(TAG.sequence, Buffer.concat(parts));
}

export function set(...parts: readonly Buffer[]): Buffer {
  return der(TAG.set, Buffer.concat(parts));
}

export function truth(): Buffer {
  return der(TAG.boolean, Buffer.of(0xff));
}

/** @param value positive: its first bit is 0 */
export function integer(value: Buffer): Buffer {
  return der(TAG.integer, value);
}

/** @param unused how many bits of the last byte don't count */
export function bits(value: Buffer, unused = 0): Buffer {
  return der(TAG.bits, Buffer.concat([Buffer.of(unused), value]));
}

export function octets(content: Buffer): Buffer {
  return der(TAG.octets, content);
}

/** @param hex the identifier's encoding */
export function oid(hex: string): Buffer {
  return der(TAG.oid, Buffer.from(hex, "hex"));
}

export function utf8(text: string): Buffer {
  return der(TAG.utf8, Buffer.from(text));
}

/** @param at milliseconds since the epoch, before 2050 */
export function utcTime(at: number): Buffer {
  const digits = new Date(at).toISOString().slice(2, 19).replace(/[-:T]/g, "");
  return der(TAG.utcTime, Buffer.from(`${digits}Z`));
}
