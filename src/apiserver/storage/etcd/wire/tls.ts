import { readRegularFile } from '../../../../base/index.ts';
import type { Endpoint } from './endpoints.ts';
import type { EtcdTls } from './options.ts';

/** For each of the files; a bundle of authorities is the largest. */
const limitBytes = 4 * 1024 * 1024;

/** The certificates and key of a new connection, as node:tls takes them. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Rejects with an Error that names the file. */
export async function readTlsMaterial({ secure }: Endpoint, tls: EtcdTls): Promise<TlsMaterial> {
  if (!secure) return {};
  const [ca, cert, key] = await Promise.all([tls.caFile, tls.certFile, tls.keyFile].map(read));
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

async function read(path: string | undefined): Promise<Buffer | undefined> {
  return path === undefined ? undefined : await readRegularFile(path, { limitBytes });
}
