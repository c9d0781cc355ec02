import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issuePair, noNames } from '../../src/base/x509/index.ts';
import type { Target } from './connection.ts';
import { nameOf } from './renewals.ts';
import type { Server } from './server.ts';

const hourMs = 3600_000;

/** The server as each of so many nodes reaches it: with a certificate of its own from the server's authority. */
export async function asNodes({ folder, target }: Server, count: number): Promise<readonly Target[]> {
  const read = (name: string) => readFile(join(folder, 'pki', name), 'utf8');
  const authority = { cert: await read('ca.crt'), key: await read('ca.key') };
  const settings = { names: noNames, use: 'client', lifetimeMs: hourMs, now: Date.now() } as const;
  const all: Target[] = [];
  for (let node = 0; node < count; node++) {
    const subject = { commonName: `system:node:${nameOf(node)}`, organizations: ['system:nodes'] };
    all.push({ ...target, ...(await issuePair(authority, { subject, ...settings })) });
  }
  return all;
}
