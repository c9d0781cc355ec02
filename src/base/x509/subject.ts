import { isIP, isIPv4, SocketAddress } from 'node:net';
import type { X509Library } from './library.ts';

/** Who a certificate is for. */
export interface Subject {
  commonName: string;
  organizations: readonly string[];
}

export interface AlternativeNames {
  dnsNames: readonly string[];
  /** IPv4 and IPv6. */
  ipAddresses: readonly string[];
}

export const noNames: AlternativeNames = { dnsNames: [], ipAddresses: [] };

/** The subject as the library writes it. A text without a type would be read as an escaped one (RFC 4514). */
export function subjectName({ Name }: X509Library, { commonName, organizations }: Subject) {
  const typed = (text: string) => [
    Name.isPrintableString(text) ? { printableString: text } : { utf8String: text },
  ];
  return new Name([...organizations.map((name) => ({ O: typed(name) })), { CN: typed(commonName) }]);
}

/** The names in the form that the library expects. */
export function nameParts(names: AlternativeNames): { type: 'dns' | 'ip'; value: string }[] {
  return [
    ...names.dnsNames.map((value) => ({ type: 'dns', value }) as const),
    ...names.ipAddresses.map((value) => ({ type: 'ip', value }) as const),
  ];
}

/**
 * Splits configured names into addresses and DNS names, each once and in canonical form. What cannot be in a certificate is
 * left out: the unspecified addresses, and what is no DNS name.
 */
export function alternativeNames(values: Iterable<string>): AlternativeNames {
  const all = [...new Set([...values].map(toCanonicalName))];
  return {
    dnsNames: all.filter((value) => ipVersion(value) === 0 && isDnsName(value)),
    ipAddresses: all.filter((value) => ipVersion(value) !== 0 && value !== '0.0.0.0' && value !== '::'),
  };
}

/** The canonical spelling of a name or address, for comparisons: `fd00::1` for `FD00:0::1%eth0`, `node-a` for `Node-A.`. */
export function toCanonicalName(value: string): string {
  const text = value.trim();
  const version = ipVersion(text);
  if (version === 4) return text;
  if (version === 0) return text.toLowerCase().replace(/\.$/, '');
  const [address = text] = text.split('%');
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  return mappedIpv4.exec(canonical)?.[1] ?? canonical;
}

/** Like isIP, which takes milliseconds at its first call with no address: its pattern for IPv6 is large. */
function ipVersion(text: string): number {
  return text.includes(':') ? isIP(text) : Number(isIPv4(text)) * 4;
}

/** An IPv4-mapped IPv6 address is the same host. */
const mappedIpv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;
const dnsName =
  /^(?:\*\.)?(?:[a-z0-9_](?:[-a-z0-9_]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[-a-z0-9_]{0,61}[a-z0-9_])?$/;

/** Lower case only. Underscores are common in host names, and every verifier accepts them. */
export function isDnsName(value: string): boolean {
  return value.length <= 253 && dnsName.test(value);
}
