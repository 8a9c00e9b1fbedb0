/** Which IP addresses a provider may have whose address a customer has entered. */
import { BlockList, isIP } from "node:net";

/**
 * `private`: the networks of RFC 1918 and RFC 4193, and the shared one of RFC 6598, which clouds use
 * inside. `special`: everything else that isn't public, such as this machine, its link, groups,
 * documentation and tunnels, and the addresses where clouds serve metadata, wherever they are.
 */
export type AddressKind = "public" | "private" | "special";

type Range = readonly [network: string, prefix: number];

/** The registry of IANA for special purposes, and RFC 1112 for 240.0.0.0/4. */
const SPECIAL_V4: readonly Range[] = [
  ["0.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // Azure's platform, whose address is public, and Alibaba's metadata, inside 100.64.0.0/10.
  ["168.63.129.16", 32],
  ["100.100.100.200", 32],
];

const PRIVATE_V4: readonly Range[] = [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
];

/** All that is allocated for the internet. Every other address of version 6 is special or private. */
const GLOBAL_V6: readonly Range[] = [["2000::", 3]];

/**
 * Inside 2000::/3: protocols, with Teredo and ORCHID; documentation; 6to4; AS112; documentation.
 */
const SPECIAL_V6: readonly Range[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
  // The metadata of AWS and of Google, inside fc00::/7.
  ["fd00:ec2::", 32],
  ["fd20:ce::254", 128],
];

const PRIVATE_V6: readonly Range[] = [["fc00::", 7]];

/** A network with IPv6 alone reaches servers of version 4 at these (RFC 6052). */
const NAT64: readonly Range[] = [["64:ff9b::", 96]];

const special = listOf(SPECIAL_V4, SPECIAL_V6);
const privateNetworks = listOf(PRIVATE_V4, PRIVATE_V6);
const globalV6 = listOf([], GLOBAL_V6);
const nat64 = listOf([], NAT64);

function listOf(v4: readonly Range[], v6: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of v4) list.addSubnet(network, prefix, "ipv4");
  for (const [network, prefix] of v6) list.addSubnet(network, prefix, "ipv6");
  return list;
}

/**
 * Returns the kind of an IP address, `special` for any other text.
 *
 * An address of version 4 inside one of version 6 counts only with NAT64's well-known prefix, since
 * with DNS64 every provider without IPv6 has such an address. Mapped and compatible addresses, 6to4
 * and Teredo are special whatever they contain: no server needs one.
 *
 * @param address as `lookup` returns it, or the host of a URL without brackets
 */
export function addressKind(address: string): AddressKind {
  // A zone belongs to an address of the link.
  const family = address.includes("%") ? 0 : isIP(address);
  if (family === 0) return "special";
  if (family === 6 && nat64.check(address, "ipv6")) return addressKind(embedded(address));
  const version = family === 4 ? "ipv4" : "ipv6";
  // First, because of the metadata inside private networks.
  if (special.check(address, version) || isMapped(address)) return "special";
  if (privateNetworks.check(address, version)) return "private";
  return family === 4 || globalV6.check(address, "ipv6") ? "public" : "special";
}

/** The lists judge a mapped address by the one inside. */
function isMapped(address: string): boolean {
  return isIP(address) === 6 && new URL(`http://[${address}]`).host.startsWith("[::ffff:");
}

/** Returns the last 32 bits of an address of version 6 as one of version 4. */
function embedded(address: string): string {
  // The URL parser writes each group in hexadecimal.
  const [left = "", right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const after = groups(right ?? left);
  const [high = "0", low = "0"] = ["0", "0", ...after].slice(-2);
  const bytes = [high, low].flatMap((group) => {
    const value = parseInt(group, 16);
    return [value >> 8, value & 255];
  });
  return bytes.join(".");
}
