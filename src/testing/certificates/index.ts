export { makeAuthority, makeLeaf, newKeyPem, type Subject, type Use } from './certificate.ts';
