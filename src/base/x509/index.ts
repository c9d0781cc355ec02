export {
  type CertificateUse,
  createAuthority,
  type Issue,
  issueForRequest,
  issuePair,
  type Pair,
} from './authority.ts';
export { type Expected, findFault, validity } from './inspect.ts';
export { generateKeyPem, keyFault } from './keys.ts';
export { readPair, writePair } from './pair-files.ts';
export { createRequest, type ParsedRequest, RequestError, readRequest } from './request.ts';
export { organizationsIn } from './request-subject.ts';
export {
  type AlternativeNames,
  alternativeNames,
  canonicalName,
  isDnsName,
  noNames,
  type Subject,
} from './subject.ts';
