import { join } from 'node:path';
import { writeFileAtomic } from '../../../src/base/index.ts';
import { createAuthority, issuePair, writePair } from '../../../src/base/x509/index.ts';

/** Paths of PEM files. */
export interface EtcdCertificates {
  readonly caFile: string;
  readonly serverCertFile: string;
  readonly serverKeyFile: string;
  /** Of a client that etcd lets in. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Of another authority, which etcd does not know. */
  readonly strangerCertFile: string;
  readonly strangerKeyFile: string;
}

/** An authority with a pair for the server on 127.0.0.1 and one for clients. */
export async function makeEtcdCertificates(folder: string): Promise<EtcdCertificates> {
  const now = Date.now();
  const lifetimeMs = 86_400_000;
  const authority = await createAuthority('etcd lab', lifetimeMs, now);
  const stranger = await createAuthority('somebody else', lifetimeMs, now);
  const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
  const issue = { names, lifetimeMs, now };
  const subject = (commonName: string) => ({ commonName, organizations: [] });
  const client = { ...issue, subject: subject('nodeward'), use: 'client' } as const;
  await writeFileAtomic(join(folder, 'ca.crt'), authority.cert);
  await writePair(
    folder,
    'server',
    await issuePair(authority, { ...issue, subject: subject('etcd'), use: 'server' }),
  );
  await writePair(folder, 'client', await issuePair(authority, client));
  await writePair(folder, 'stranger', await issuePair(stranger, client));
  const file = (name: string) => join(folder, name);
  return {
    caFile: file('ca.crt'),
    serverCertFile: file('server.crt'),
    serverKeyFile: file('server.key'),
    certFile: file('client.crt'),
    keyFile: file('client.key'),
    strangerCertFile: file('stranger.crt'),
    strangerKeyFile: file('stranger.key'),
  };
}
