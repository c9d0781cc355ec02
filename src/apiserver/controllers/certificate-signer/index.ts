export { certificateSigner, type SignerOptions } from './service.ts';
