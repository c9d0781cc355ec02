import { string } from '../../api/schema/index.ts';
import type { TlsSettings } from '../server/index.ts';
import type { Fields, Settings } from './field.ts';
import { choice, list, listOf, path, quote } from './field-types.ts';
import type { LocatedMap } from './located.ts';
import type { Problem } from './problems.ts';

/** How connections to the agent are secured. */
export const tlsFields = {
  tlsCertFile: path({
    doc: 'PEM of the certificate to serve with, intermediates behind it; it needs `tlsPrivateKeyFile`. Both files are read again every minute, and a pair that cannot be used is not taken. `nodeward checkpoint` knows only certificates of the authority of the cluster.',
    defaultInWords: 'issued by the control plane',
  }),
  tlsPrivateKeyFile: path({ doc: 'PEM of its key.', defaultInWords: 'issued by the control plane' }),
  tlsMinVersion: choice(['VersionTLS12', 'VersionTLS13'], {
    doc: 'The lowest version of TLS that is served.',
    default: 'VersionTLS12',
  }),
  tlsCipherSuites: list(string, (names) => names.map(String), {
    doc: 'The cipher suites of TLS 1.2 that are served, by their IANA names.',
    defaultInWords: 'the choice of OpenSSL',
    range: 'IANA names',
    check(plain) {
      const unknown = listOf(plain).find((name) => !cipherSuites.includes(String(name)));
      return unknown === undefined ? undefined : `${quote(unknown)} is not a cipher suite that can be served`;
    },
  }),
} as const satisfies Fields;

const tlsVersions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const;

export function toTlsSettings({ tlsMinVersion, tlsCipherSuites }: Settings<typeof tlsFields>): TlsSettings {
  return { minVersion: tlsVersions[tlsMinVersion], ciphers: openSslCiphers(tlsCipherSuites) };
}

/** The certificate and its key come together. */
export function checkCertificatePair(merged: LocatedMap): Problem[] {
  const [cert, key] = ['tlsCertFile', 'tlsPrivateKeyFile'].map((name) => merged.entries.get(name));
  if ((cert === undefined) === (key === undefined)) return [];
  const [stated, missing] =
    key === undefined ? ['tlsCertFile', 'tlsPrivateKeyFile'] : ['tlsPrivateKeyFile', 'tlsCertFile'];
  const at = (cert ?? key)?.keyAt;
  return [{ ...(at === undefined ? {} : { at }), path: stated, message: `needs ${missing} beside it` }];
}

/*
 * Names of cipher suites as IANA and the reference have them, and as OpenSSL does. Suites that this
 * OpenSSL is built without (RC4, 3DES) are not among them.
 */

/** TLS 1.3 has these three, which are secure and cannot be chosen among, as in the reference. */
const suitesOfTls13: readonly string[] = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
];

/** Those of TLS 1.2. */
const olderSuites: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
};

/** The names that `tlsCipherSuites` may have. */
export const cipherSuites: readonly string[] = [...suitesOfTls13, ...Object.keys(olderSuites)];

/** The list for OpenSSL; undefined where none are named: its own choice. */
export function openSslCiphers(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const chosen = names.flatMap((name) => (Object.hasOwn(olderSuites, name) ? [olderSuites[name] ?? ''] : []));
  return [...suitesOfTls13, ...new Set(chosen)].join(':');
}
