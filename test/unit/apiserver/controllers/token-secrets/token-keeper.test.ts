import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Secret } from '../../../../../src/api/index.ts';
import { namespaceKind, secretKind, serviceAccountKind } from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import { TokenKeeper } from '../../../../../src/apiserver/controllers/token-secrets/token-keeper.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import { VeiledStore } from '../../../../contract/storage/veiled-store.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const context = { user: controlPlaneUser, dryRun: false };
const clock = createManualClock();
const nameAnnotation = 'kubernetes.io/service-account.name';

const tokenSecret = (account: string): Secret => ({
  metadata: { name: 't', namespace: 'ns', annotations: { [nameAnnotation]: account } },
  type: 'kubernetes.io/service-account-token',
});

/** A store in which some values cannot be read, with the accounts one and two; `open` is a server that starts on it. */
async function world() {
  const other = await openStore({ kind: 'memory', clock });
  const open = async () => {
    const storage = await createCache(new VeiledStore(other), { clock });
    const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
    const [secrets, accounts] = [registry.of(secretKind), registry.of(serviceAccountKind)];
    const key = `${secrets.prefix('ns')}t`;
    const keeperWith = (issueForSecret: () => Promise<string>) =>
      new TokenKeeper({
        ...{ registry, storage, clock, log: silentLogger(), ca: 'CA' },
        tokens: { issueForSecret },
      });
    const secret = () => {
      const stored = storage.get(key);
      return stored && secrets.encoding.read(stored);
    };
    return { storage, registry, secrets, accounts, key, keeperWith, secret };
  };
  const first = await open();
  await first.registry.of(namespaceKind).create('', { metadata: { name: 'ns' } }, context);
  for (const name of ['one', 'two'])
    await first.accounts.create('ns', { metadata: { name, namespace: 'ns' } }, context);
  return { ...first, other, open };
}

describe('the Secret of a token', () => {
  test('stays while its account cannot be read, also for a server that has never read it', async () => {
    const { other, open, secrets, storage, accounts } = await world();
    await secrets.create('ns', { ...tokenSecret('one'), data: { own: 'cHJlY2lvdXM=' } }, context);
    const account = `${accounts.prefix('ns')}one`;
    const expect = storage.get(account)?.revision ?? 0;
    await other.commit({ key: account, expect, value: Buffer.from('?encrypted') });
    const { key, keeperWith, secret } = await open();
    await keeperWith(async () => 'token').keep(key);
    assert.deepEqual(secret()?.data, { own: 'cHJlY2lvdXM=' });
  });

  test('that takes its place while the token is signed gets nothing', async () => {
    const { secrets, key, keeperWith, secret } = await world();
    await secrets.create('ns', tokenSecret('one'), context);
    const own: Secret = {
      metadata: { name: 't', namespace: 'ns' },
      type: 'Opaque',
      data: { password: 'eA==' },
    };
    const keeper = keeperWith(async () => {
      await secrets.delete('ns', 't', {}, context);
      await secrets.create('ns', own, context);
      return 'token of one';
    });
    await keeper.keep(key);
    assert.deepEqual(secret()?.data, { password: 'eA==' });
    assert.equal(secret()?.metadata?.annotations, undefined);
  });

  test('that is given to another account while the token is signed is filled for that one, and not deleted', async () => {
    const { secrets, key, keeperWith, secret } = await world();
    await secrets.create('ns', tokenSecret('one'), context);
    let count = 0;
    const make = (now: Secret): Secret => ({
      ...now,
      metadata: { ...now.metadata, annotations: { [nameAnnotation]: 'two' } },
    });
    const keeper = keeperWith(async () => {
      count += 1;
      if (count === 1)
        await secrets.change({ namespace: 'ns', name: 't' }, { make, operation: 'Update' }, '', context);
      return `token ${count}`;
    });
    await keeper.keep(key);
    await keeper.keep(key);
    assert.equal(Buffer.from(secret()?.data?.['token'] ?? '', 'base64').toString(), 'token 2');
  });
});
