/** A write of a migration that was tried twice, and whose first try comes to etcd when nobody expects it any more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EtcdTarget } from '../../src/apiserver/storage/etcd/index.ts';
import type { MigrationSource } from '../../src/apiserver/storage/migration/index.ts';
import { migrate } from '../../src/apiserver/storage/migration/index.ts';
import { startEtcd } from './lab/etcd.ts';

const prefix = '/registry';
const inEtcd = `${prefix}/configmaps/default/a`;

test('what comes late when all is compared is void, so nothing old stands in the place of what is new', async () => {
  await using etcd = await startEtcd();
  const [url = ''] = etcd.urls;
  await using target = new EtcdTarget(
    { servers: [url], prefix },
    { step: () => undefined, add: () => undefined },
  );
  let late: Late | undefined;
  let reads = 0;
  const source: MigrationSource = {
    ...{ name: 'sqlite:/a', groupSuffix: 'k8s.io', [Symbol.asyncDispose]: () => Promise.resolve() },
    async read() {
      reads++;
      late ??= await lateWrite(url); // as of the first copy
      return { revision: reads, objects: compared(reads, late) };
    },
    hold: () =>
      Promise.resolve({
        revision: 2,
        seal: () => Promise.resolve(),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
  };
  const { objects } = await migrate(source, target, { step: () => undefined, add: () => undefined });
  assert.equal(objects, 1);
  assert.equal(reads, 3);
  assert.equal(await valueIn(url, inEtcd), '{"n":"2"}');
});

type Late = () => Promise<boolean>;

/** The source changes between the first copy and the second; the late write comes while both are compared. */
async function* compared(read: number, late: Late) {
  const value = Buffer.from(read === 1 ? '{"n":"1"}' : '{"n":"2"}');
  yield { key: '/registry/configmaps/default/a', revision: read, createRevision: 1, value };
  if (read === 3) assert.equal(await late(), false, 'the late write was done');
}

/** The transaction as the target sends it now, kept for later; resolves with whether it was done. */
async function lateWrite(url: string): Promise<Late> {
  const identity = `${prefix}/nodeward/store`;
  const { kvs } = await asked(url, 'range', { key: base64(identity) });
  const mod_revision = kvs[0]?.mod_revision;
  assert.ok(mod_revision);
  const compare = [{ target: 'MOD', result: 'EQUAL', key: base64(identity), mod_revision }];
  const success = [{ request_put: { key: base64(inEtcd), value: base64('{"n":"1"}') } }];
  return async () => (await asked(url, 'txn', { compare, success })).succeeded === true;
}

async function valueIn(url: string, key: string): Promise<string | undefined> {
  const { kvs } = await asked(url, 'range', { key: base64(key) });
  return kvs[0] && Buffer.from(kvs[0].value, 'base64').toString();
}

interface Answered {
  readonly succeeded?: boolean;
  readonly kvs: { readonly value: string; readonly mod_revision: string }[];
}

async function asked(url: string, what: 'range' | 'txn', body: object): Promise<Answered> {
  const response = await fetch(`${url}/v3/kv/${what}`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal(response.status, 200);
  return JSON.parse(await response.text());
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
