import { isIP, isIPv4, SocketAddress } from 'node:net';

/** Who a certificate is for, and under which names it may be reached. */
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

/** The subject in the form that the library takes. */
export function subjectParts(subject: Subject): Record<string, string[]>[] {
  return [...subject.organizations.map((name) => ({ O: [name] })), { CN: [subject.commonName] }];
}

/** The names in the form that the library takes. */
export function nameParts(names: AlternativeNames): { type: 'dns' | 'ip'; value: string }[] {
  return [
    ...names.dnsNames.map((value) => ({ type: 'dns', value }) as const),
    ...names.ipAddresses.map((value) => ({ type: 'ip', value }) as const),
  ];
}

/**
 * Sorts names given by people into addresses and DNS names, each once and in its canonical form. What can never be in
 * a certificate is left out: the unspecified address, and what is no DNS name.
 */
export function alternativeNames(values: Iterable<string>): AlternativeNames {
  const all = [...new Set([...values].map(canonicalName))];
  return {
    dnsNames: all.filter((value) => ipVersion(value) === 0 && isDnsName(value)),
    ipAddresses: all.filter((value) => ipVersion(value) !== 0 && value !== '0.0.0.0' && value !== '::'),
  };
}

/** One spelling of a name or address, for comparisons: `FD00:0::1%eth0` is `fd00::1`, `Node-A.` is `node-a`. */
export function canonicalName(value: string): string {
  const text = value.trim();
  const version = ipVersion(text);
  if (version === 4) return text;
  if (version === 0) return text.toLowerCase().replace(/\.$/, '');
  const [address = text] = text.split('%');
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  return embedded.exec(canonical)?.[1] ?? canonical;
}

/** As isIP, which takes milliseconds for the first name that is no address: its pattern for IPv6 is a large one. */
function ipVersion(text: string): number {
  return text.includes(':') ? isIP(text) : Number(isIPv4(text)) * 4;
}

/** An IPv4 address in the clothes of IPv6 is the same host. */
const embedded = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;
const dnsName =
  /^(?:\*\.)?(?:[a-z0-9_](?:[-a-z0-9_]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[-a-z0-9_]{0,61}[a-z0-9_])?$/;

/** Lower case; underscores are common in host names, and every verifier takes them. */
export function isDnsName(value: string): boolean {
  return value.length <= 253 && dnsName.test(value);
}
