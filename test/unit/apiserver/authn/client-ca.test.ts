import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '../../../../src/base/index.ts';
import type { Pair } from '../../../../src/base/x509/index.ts';
import { createAuthority, issuePair, noNames } from '../../../../src/base/x509/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { nodes, startServer } from '../support/index.ts';

const lifetimeMs = 3600_000;
const authority = (name: string) => createAuthority(name, lifetimeMs, Date.now());

const client = (ca: Pair) =>
  issuePair(ca, {
    subject: { commonName: 'alice', organizations: ['system:masters'] },
    names: noNames,
    use: 'client',
    lifetimeMs,
    now: Date.now(),
  });

/** Whoever waits for five seconds waits for fifty milliseconds. */
const hurried = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === 5000 ? 50 : ms, signal),
};

describe('a file of client authorities', () => {
  test('lets their clients in beside those of the cluster, and is read again when it changes', async () => {
    await using folder = await temporaryFolder();
    const clientCaFile = join(folder.path, 'ca.crt');
    const [first, second] = [await authority('first'), await authority('second')];
    await writeFile(clientCaFile, first.cert);
    await using server = await startServer({ clock: hurried, authentication: { clientCaFile } });
    const ask = async (pair: Pair) => (await server.holder(pair).request('GET', nodes)).code;
    const [alice, bob] = [await client(first), await client(second)];
    assert.equal(await ask(alice), 200);
    assert.equal(await ask(bob), 401);
    await writeFile(clientCaFile, 'half a fi');
    await waitFor('the broken file to be told', () =>
      /has no certificate in PEM.*stay/.test(server.logged()),
    );
    assert.equal(await ask(alice), 200);
    await writeFile(clientCaFile, `${second.cert}${first.cert}`);
    await waitFor('the second authority to be known', async () => (await ask(bob)) === 200);
    assert.equal(await ask(alice), 200);
    await writeFile(clientCaFile, second.cert);
    await waitFor('the first authority to be forgotten', async () => (await ask(alice)) === 401);
    assert.equal((await server.admin.request('GET', nodes)).code, 200);
  });

  test('ends the connections and watches of an authority that is no longer in it', async () => {
    await using folder = await temporaryFolder();
    const clientCaFile = join(folder.path, 'ca.crt');
    const [first, second] = [await authority('first'), await authority('second')];
    await writeFile(clientCaFile, first.cert);
    await using server = await startServer({ clock: hurried, authentication: { clientCaFile } });
    const alice = server.holder(await client(first)); // keeps its connections
    const bob = await client(second);
    const codeFor = async (who: typeof alice) => (await who.request('GET', nodes)).code;
    assert.equal(await codeFor(alice), 200);
    await using watch = await alice.watch(nodes);
    await writeFile(clientCaFile, `${first.cert}${second.cert}`);
    await waitFor(
      'the second authority to be known',
      async () => (await codeFor(server.holder(bob))) === 200,
    );
    assert.equal(await codeFor(alice), 200);
    await writeFile(clientCaFile, second.cert);
    await watch.ended;
    assert.equal(await codeFor(alice), 401);
    assert.equal(await codeFor(server.admin), 200);
  });

  test('that cannot be used keeps the server from starting', async () => {
    await using folder = await temporaryFolder();
    const clientCaFile = join(folder.path, 'ca.crt');
    const start = () => startServer({ authentication: { clientCaFile } });
    await assert.rejects(start(), /authorities of clients in .*ca\.crt cannot be used: .*ENOENT/);
    await writeFile(clientCaFile, (await client(await authority('first'))).cert);
    await assert.rejects(start(), /is not of an authority/);
  });
});
