import { X509Certificate } from 'node:crypto';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { CertificateSigningRequest } from './description.ts';
import { requestedSignerCauses } from './signer-name.ts';

type Status = NonNullable<CertificateSigningRequest['status']>;
type Condition = NonNullable<Status['conditions']>[number];

/** The causes why a request for a certificate is invalid, for writes through any path. */
export function signingRequestCauses(
  next: CertificateSigningRequest,
  old: CertificateSigningRequest | undefined,
): Cause[] {
  const { conditions = [], certificate } = next.status ?? {};
  return [
    ...specCauses(next.spec),
    ...conditionCauses(conditions),
    ...removalCauses(conditions, old?.status?.conditions ?? []),
    ...certificateCauses(certificate ?? '', old?.status?.certificate ?? ''),
  ];
}

const minSeconds = 600;

function specCauses({
  request,
  signerName,
  expirationSeconds,
  usages = [],
}: CertificateSigningRequest['spec']) {
  const causes: Cause[] = [];
  if (!Buffer.from(request, 'base64').includes('-----BEGIN CERTIFICATE REQUEST-----')) {
    const message = 'Invalid value: PEM block type must be CERTIFICATE REQUEST';
    causes.push({ reason: 'FieldValueInvalid', field: 'spec.request', message });
  }
  causes.push(...requestedSignerCauses(signerName));
  if (expirationSeconds !== undefined && expirationSeconds < minSeconds) {
    const detail = `may not specify a duration less than ${minSeconds} seconds (10 minutes)`;
    causes.push(invalidValue('spec.expirationSeconds', expirationSeconds, detail));
  }
  return [...causes, ...usageCauses(usages)];
}

const keyUsages = [
  ...['signing', 'digital signature', 'content commitment', 'key encipherment', 'key agreement'],
  ...['data encipherment', 'cert sign', 'crl sign', 'encipher only', 'decipher only', 'any'],
  ...['server auth', 'client auth', 'code signing', 'email protection', 's/mime', 'ipsec end system'],
  ...['ipsec tunnel', 'ipsec user', 'timestamping', 'ocsp signing', 'microsoft sgc', 'netscape sgc'],
];

function usageCauses(usages: readonly string[]): Cause[] {
  if (usages.length === 0) return [requiredValue('spec.usages')];
  const earlier = new Set<string>();
  return causesOf(usages, (usage, index) => {
    const field = `spec.usages[${index}]`;
    const again = earlier.has(usage);
    earlier.add(usage);
    if (!keyUsages.includes(usage)) return [unsupportedValue(field, usage, keyUsages)];
    return again ? [duplicateValue(field, usage)] : [];
  });
}

/** Conditions that are only ever True, and cannot be removed. */
const decisive = ['Approved', 'Denied', 'Failed'];

function conditionCauses(conditions: readonly Condition[]): Cause[] {
  const before = new Set<string>();
  return causesOf(conditions, ({ type, status }, index) => {
    const path = `status.conditions[${index}]`;
    const again = before.has(type);
    before.add(type);
    return [
      ...(type === '' ? [requiredValue(`${path}.type`)] : []),
      ...statusCauses(`${path}.status`, status, decisive.includes(type)),
      ...(contradicts(type, before)
        ? [invalidValue(`${path}.type`, type, 'Approved and Denied conditions are mutually exclusive')]
        : []),
      ...(again ? [duplicateValue(`${path}.type`, type)] : []),
    ];
  });
}

function contradicts(type: string, others: ReadonlySet<string>): boolean {
  if (type === 'Approved') return others.has('Denied');
  return type === 'Denied' && others.has('Approved');
}

function statusCauses(field: string, status: string, isDecisive: boolean): Cause[] {
  if (status === '') return [requiredValue(field)];
  const supported = isDecisive ? ['True'] : ['False', 'True', 'Unknown'];
  return supported.includes(status) ? [] : [unsupportedValue(field, status, supported)];
}

function removalCauses(next: readonly Condition[], old: readonly Condition[]): Cause[] {
  const has = (conditions: readonly Condition[], wanted: string) =>
    conditions.some(({ type }) => type === wanted);
  return decisive
    .filter((type) => has(old, type) && !has(next, type))
    .map((type) =>
      forbiddenValue('status.conditions', `updates may not remove a condition of type "${type}"`),
    );
}

function certificateCauses(next: string, old: string): Cause[] {
  const field = 'status.certificate';
  if (next === old) return [];
  if (old !== '') return [forbiddenValue(field, 'updates may not modify existing certificate content')];
  const wrong = wrongCertificates(Buffer.from(next, 'base64').toString('latin1'));
  return wrong === undefined ? [] : [invalidValue(field, '<certificate data>', wrong)];
}

const pemBlock = /-----BEGIN ([^-\r\n]*)-----\r?\n([^-]*)-----END [^-\r\n]*-----/g;
/** Chains are short; parsing a certificate is slow. */
const maxChainLength = 64;

/** What is wrong with a PEM chain of certificates; undefined when it is valid. */
function wrongCertificates(pem: string): string | undefined {
  let count = 0;
  for (const [block, type, body = ''] of pem.matchAll(pemBlock)) {
    if (type !== 'CERTIFICATE')
      return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (body.includes(':')) return 'no PEM block headers are permitted';
    if (!isCertificate(block)) return 'found CERTIFICATE PEM block that cannot be read';
    count += 1;
    if (count > maxChainLength) return `must contain at most ${maxChainLength} CERTIFICATE PEM blocks`;
  }
  return count === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
