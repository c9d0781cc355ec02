import { join } from 'node:path';
import { runSuccessfully } from '../../support/index.ts';

/** Whose certificate a request shows: a pair of files in the folder of certificates, or none. */
export type Credentials = 'admin' | 'nodeward-client' | 'standalone-admin' | 'none';

export interface CurlOptions {
  as?: Credentials;
  method?: string;
  /** Of the authority that the server's certificate must come from; default `ca`. */
  authority?: string;
  timeoutMs?: number;
}

export interface CurlAnswer {
  code: number;
  /** Without a line end behind it. */
  body: string;
}

/** A plain request with curl, as a person would make it; verifies the server. `pki` is the folder of certificates. */
export async function curl(pki: string, url: string, options: CurlOptions = {}): Promise<CurlAnswer> {
  const { as = 'admin', method = 'POST', authority = 'ca', timeoutMs = 60_000 } = options;
  const output = await runSuccessfully('curl', [...curlArguments(pki, as, authority), '-X', method, url], {
    timeoutMs,
  });
  const at = output.lastIndexOf('\n');
  return { code: Number(output.slice(at + 1)), body: output.slice(0, at).trimEnd() };
}

/** Everything but method and URL; the answer's code is written behind its body. */
export function curlArguments(pki: string, as: Credentials, authority = 'ca'): string[] {
  const own = as === 'none' ? [] : ['--cert', join(pki, `${as}.crt`), '--key', join(pki, `${as}.key`)];
  const trusted = ['--cacert', join(pki, `${authority}.crt`)];
  return ['--silent', '--show-error', '--noproxy', '*', ...trusted, ...own, '--write-out', '\n%{http_code}'];
}
