import { runSuccessfully } from '../../support/index.ts';
import type { Shell } from './shell.ts';

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Paths of a certificate and its key, made with openssl as a person would. */
export async function selfSigned(shell: Shell): Promise<{ cert: string; key: string }> {
  const [cert, key] = [await shell.file('tls.crt', ''), await shell.file('tls.key', '')];
  const subject = ['-subj', '/CN=example', '-days', '1'];
  await runSuccessfully('openssl', ['req', '-x509', ...newKey, ...subject, '-keyout', key, '-out', cert]);
  return { cert, key };
}

/** PEM of a request for a certificate. */
export async function certificateRequest(shell: Shell, subject: string): Promise<string> {
  const key = await shell.file('request.key', '');
  return await runSuccessfully('openssl', ['req', '-new', ...newKey, '-subj', subject, '-keyout', key]);
}
