import type { DnsSettings } from './types.ts';

/**
 * The settings in a text such as that of `/etc/resolv.conf`. Of searches and of options the last line counts; a domain has no
 * dot at its end, so that it is not taken for another one.
 */
export function parseResolvConf(text: string): DnsSettings {
  const servers: string[] = [];
  let searches: string[] = [];
  let options: string[] = [];
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line.trim().split(/\s+/);
    if (keyword === 'nameserver' && values[0] !== undefined) servers.push(values[0]);
    if (keyword === 'search') searches = values.map((domain) => domain.replace(/(.)\.$/, '$1'));
    if (keyword === 'options') options = values;
  }
  return { servers, searches, options };
}

/** The settings where `resolvConf` is empty: what listens on the node itself, and no domains. */
export function localDns(hostIps: readonly string[]): DnsSettings {
  const servers = hostIps.map((ip) => (ip.includes(':') ? '::1' : '127.0.0.1'));
  return {
    servers: servers.length === 0 ? ['127.0.0.1'] : [...new Set(servers)],
    searches: ['.'],
    options: [],
  };
}
