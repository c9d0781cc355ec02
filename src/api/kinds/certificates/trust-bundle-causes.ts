import { findAuthorityFault, readPemBlocks } from '../../../base/x509/index.ts';
import { checkName } from '../../names/index.ts';
import { causesOf, invalidUnless, invalidValue, tooLongValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import { signerNameCauses } from './signer-name.ts';

/** Of the text of one bundle. */
const maxBundleBytes = 1024 * 1024;

/** What the name of a ClusterTrustBundle begins with, for a bundle of that signer. */
export function bundlePrefixOf(signerName: string): string {
  return `${signerName.replaceAll('/', ':')}:`;
}

/** What is wrong with the name of a bundle of this signer, which may be empty; undefined when it is valid. */
export function checkBundleName(name: string, signerName: string): string | undefined {
  if (signerName === '') {
    if (name.includes(':')) return 'ClusterTrustBundle without signer name must not have ":" in its name';
    return checkName('subdomain', name);
  }
  const prefix = bundlePrefixOf(signerName);
  if (!name.startsWith(prefix))
    return `ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`;
  return checkName('subdomain', name.slice(prefix.length));
}

/** The fields that the rules are about. */
export interface BundleFields {
  readonly name: string;
  readonly signerName: string;
  readonly trustBundle: string;
}

/** The causes why a bundle is invalid; certificates that were stored before are not read again. */
export function trustBundleCauses(next: BundleFields, old: BundleFields | undefined): Cause[] {
  const { name, signerName, trustBundle } = next;
  const field = 'spec.signerName';
  return [
    ...invalidUnless('metadata.name', name, checkBundleName(name, signerName)),
    ...(signerName === '' ? [] : signerNameCauses(field, signerName)),
    ...(trustBundle === old?.trustBundle ? [] : certificateCauses('spec.trustBundle', trustBundle)),
    ...(old === undefined || old.signerName === signerName
      ? []
      : [invalidValue(field, signerName, 'field is immutable')]),
  ];
}

function certificateCauses(field: string, text: string): Cause[] {
  if (Buffer.byteLength(text) > maxBundleBytes) return [tooLongValue(field, maxBundleBytes)];
  const invalid = (detail: string) => invalidValue(field, '<value omitted>', detail);
  /** By content: at which places. */
  const places = new Map<string, number[]>();
  const causes = causesOf(readPemBlocks(text), ({ type, bytes, hasHeaders }, index) => {
    if (type !== 'CERTIFICATE') return [invalid(`entry ${index} has bad block type: ${type}`)];
    if (hasHeaders) return [invalid(`entry ${index} has PEM block headers`)];
    const fault = findAuthorityFault(bytes);
    if (fault === 'unreadable') return [invalid(`entry ${index} does not parse as X.509`)];
    if (fault === 'no-authority') return [invalid(`entry ${index} does not have the CA bit set`)];
    const content = bytes.toString('base64');
    const known = places.get(content);
    if (known === undefined) places.set(content, [index]);
    else known.push(index);
    return [];
  });
  if (causes.length > 0) return causes;
  if (places.size === 0) return [invalid('at least one trust anchor must be provided')];
  return causesOf(places.values(), (indices) =>
    indices.length > 1 ? [invalid(`duplicate trust anchor (indices [${indices.join(' ')}])`)] : [],
  );
}
