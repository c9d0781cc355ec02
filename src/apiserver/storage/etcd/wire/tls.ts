import { readRegularFile } from '../../../../base/index.ts';
import type { Endpoint } from './endpoints.ts';
import type { EtcdTls } from './options.ts';

/** Of any of the files; a bundle of authorities is the longest. */
const limitBytes = 4 * 1024 * 1024;

/** What a new connection shows and trusts, as node:tls takes it. */
export interface Trust {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Rejects with an Error that names the file. */
export async function trustFor({ secure }: Endpoint, tls: EtcdTls): Promise<Trust> {
  if (!secure) return {};
  const [ca, cert, key] = await Promise.all([tls.caFile, tls.certFile, tls.keyFile].map(read));
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

async function read(path: string | undefined): Promise<Buffer | undefined> {
  return path === undefined ? undefined : await readRegularFile(path, { limitBytes });
}
