import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issuePair, noNames } from '../../src/base/x509/index.ts';
import type { Target } from './connection.ts';
import { nameOf } from './renewals.ts';
import type { Server } from './server.ts';

const hourMs = 3600_000;

type Place = Pick<Server, 'folder' | 'target'>;

/** The server as each of so many nodes reaches it: with a certificate of its own from the server's authority. */
export async function asNodes(server: Place, count: number): Promise<readonly Target[]> {
  const all: Target[] = [];
  for (let node = 0; node < count; node++) {
    all.push(await asUser(server, `system:node:${nameOf(node)}`, ['system:nodes']));
  }
  return all;
}

/** The server as a user of that name and these groups reaches it. */
export async function asUser(
  { folder, target }: Place,
  name: string,
  groups: readonly string[],
): Promise<Target> {
  const read = (file: string) => readFile(join(folder, 'pki', file), 'utf8');
  const authority = { cert: await read('ca.crt'), key: await read('ca.key') };
  const subject = { commonName: name, organizations: [...groups] };
  const settings = { names: noNames, use: 'client', lifetimeMs: hourMs, now: Date.now() } as const;
  return { ...target, ...(await issuePair(authority, { subject, ...settings })) };
}
