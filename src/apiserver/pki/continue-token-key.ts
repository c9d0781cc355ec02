import { createPrivateKey, hkdfSync } from 'node:crypto';
import type { Pair } from '../../base/x509/index.ts';

/**
 * The secret behind the continue tokens of lists: 32 bytes, derived from the authority's private key (RFC 5869), so that
 * it outlives a restart and every server of one authority has the same.
 */
export function continueTokenKey({ key }: Pick<Pair, 'key'>): Uint8Array {
  const secret = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  return new Uint8Array(hkdfSync('sha256', secret, '', 'nodeward continue tokens', 32));
}
