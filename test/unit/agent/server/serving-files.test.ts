import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ServingCredentials } from '../../../../src/agent/identity/index.ts';
import { createServingFiles, servingFilesService } from '../../../../src/agent/server/serving-files.ts';
import { createLatest } from '../../../../src/base/index.ts';
import type { TemporaryFolder } from '../../../support/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { createTestAuthority } from '../identity/pki.ts';

const cluster = await createTestAuthority('cluster');
const other = await createTestAuthority('other');
const issue = () => other.issue('agent', [], 'server', { names: ['node-a'] });
const given: ServingCredentials = {
  pair: await cluster.issue('system:node:node-a', ['system:nodes'], 'server', { names: ['node-a'] }),
  clientCa: cluster.ca,
};
const none = { tlsCertFile: '', tlsPrivateKeyFile: '', clientCAFile: '' };

const namesIn = ({ path }: TemporaryFolder) => ({
  tlsCertFile: join(path, 'a.crt'),
  tlsPrivateKeyFile: join(path, 'a.key'),
  clientCAFile: join(path, 'ca.crt'),
});

async function writePair(folder: TemporaryFolder) {
  const pair = await issue();
  const names = namesIn(folder);
  await writeFile(names.tlsCertFile, pair.cert);
  await writeFile(names.tlsPrivateKeyFile, pair.key);
  await writeFile(names.clientCAFile, other.ca);
  return pair;
}

describe('files to serve with', () => {
  test('win over what the node is given, each for its part', async () => {
    await using folder = await temporaryFolder();
    const pair = await writePair(folder);
    const files = createServingFiles();
    const identity = createLatest<ServingCredentials>();
    using _follow = files.follow(identity);
    (await files.prepare({ ...namesIn(folder), clientCAFile: '' }))();
    assert.equal(files.serving.value, undefined, 'an authority is missing yet');
    identity.set(given);
    assert.deepEqual(files.serving.value, { pair, clientCa: cluster.ca });
    (await files.prepare(namesIn(folder)))();
    assert.deepEqual(files.serving.value, { pair, clientCa: other.ca });
    (await files.prepare(none))();
    assert.deepEqual(files.serving.value, given);
  });

  test('nothing changes before the switch, nor when nothing is new', async () => {
    await using folder = await temporaryFolder();
    await writePair(folder);
    const files = createServingFiles();
    const identity = createLatest<ServingCredentials>();
    identity.set(given);
    using _follow = files.follow(identity);
    let changes = 0;
    using _changes = files.serving.onChange(() => {
      changes += 1;
    });
    const commit = await files.prepare(namesIn(folder));
    assert.equal(changes, 0);
    commit();
    (await files.prepare(namesIn(folder)))();
    assert.equal(changes, 1);
  });

  test('a file that cannot be used is named', async () => {
    await using folder = await temporaryFolder();
    await writePair(folder);
    const names = namesIn(folder);
    const { prepare } = createServingFiles();
    await assert.rejects(
      prepare({ ...names, clientCAFile: '/nowhere' }),
      /clientCAFile: \/nowhere cannot be used/,
    );
    await writeFile(names.tlsPrivateKeyFile, (await issue()).key);
    await assert.rejects(prepare(names), /tlsPrivateKeyFile: .*a\.key cannot be used: it is not the key/);
    await writeFile(names.tlsCertFile, 'nonsense');
    await assert.rejects(prepare(names), /tlsCertFile: .*a\.crt cannot be used/);
  });

  test('are read again, and what has gone bad is not taken', async () => {
    await using folder = await temporaryFolder();
    await writePair(folder);
    const files = createServingFiles();
    const names = namesIn(folder);
    (await files.prepare(names))();
    const clock = createManualClock();
    const { log, text } = recordedLog();
    const stop = new AbortController();
    const run = servingFilesService(files, () => names, { clock, log }).run(stop.signal, () => undefined);
    const next = await writePair(folder);
    await clock.advance(61_000);
    await waitFor('the new certificate', async () => files.serving.value?.pair.cert === next.cert);
    await writeFile(names.tlsCertFile, 'nonsense');
    await clock.advance(61_000);
    await waitFor('the complaint', async () => /keeping the certificates that are in use/.test(text()));
    assert.equal(files.serving.value?.pair.cert, next.cert);
    stop.abort();
    await clock.advance(1);
    await run;
  });
});
