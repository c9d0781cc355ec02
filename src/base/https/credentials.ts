/** The certificate of a server, and the authorities that it trusts. All in PEM. */
export interface TlsCredentials {
  readonly key: string;
  /** With its chain, if it has one. */
  readonly cert: string;
  /** The authorities against which client certificates are verified. */
  readonly clientCa: string;
}

/** How connections are secured. */
export interface TlsSettings {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** Cipher suites in OpenSSL's notation; undefined: its own choice. */
  readonly ciphers: string | undefined;
}

const defaultSettings: TlsSettings = { minVersion: 'TLSv1.2', ciphers: undefined };

/** Returns the options of node:tls for new connections. */
export function secureContext(
  { key, cert, clientCa }: TlsCredentials,
  { minVersion, ciphers }: TlsSettings = defaultSettings,
) {
  return {
    key,
    cert,
    ca: clientCa,
    minVersion,
    ...(ciphers === undefined ? {} : { ciphers, honorCipherOrder: true }),
  };
}

/** Whether every authority in `before` is in `now` too. */
export function trustsAll(now: string, before: string): boolean {
  if (now === before) return true;
  const authorities = new Set(certificatesIn(now));
  const earlier = certificatesIn(before);
  return earlier.length > 0 && earlier.every((each) => authorities.has(each));
}

/** The certificates in `pem`, of every label that OpenSSL accepts, without their line breaks. */
function certificatesIn(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+/g) ?? [];
  return blocks.map((each) => each.replaceAll(/\s/g, ''));
}
