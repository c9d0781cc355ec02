export {
  type CertificateUse,
  createAuthority,
  type Issue,
  issueForRequest,
  issuePair,
  type Pair,
} from './authority.ts';
export { findAuthorityFault } from './authority-certificate.ts';
export { type Expected, findFault, validity } from './inspect.ts';
export { findKeyFault, generateKeyPem } from './keys.ts';
export { readPair, writePair } from './pair-files.ts';
export { formatPem, type PemBlock, readPemBlocks } from './pem.ts';
export { createRequest, type ParsedRequest, RequestError, readRequest } from './request.ts';
export { readOrganizations } from './request-subject.ts';
export {
  type AlternativeNames,
  alternativeNames,
  isDnsName,
  noNames,
  type Subject,
  toCanonicalName,
} from './subject.ts';
