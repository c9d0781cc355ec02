import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManifestStore } from '../../../../../src/agent/pods/sources/manifest-store.ts';
import { loadYamlReader } from '../../../../../src/api/index.ts';
import type { FolderView } from '../../../../../src/base/folder-watch/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { manifest } from '../support.ts';

const view: FolderView = {
  entries: new Map([
    ['web.yaml', { path: 'web.yaml', kind: 'file', identity: '1', size: 1, mtimeMs: 0, mode: 0o644, uid: 0 }],
  ]),
  by: 'events',
};

test('a file that could not be read for now is read at the next look, though it has stayed as it is', async () => {
  let reads = 0;
  let failure: Error | undefined = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  const store = new ManifestStore({
    ...{ folder: '/manifests', nodeName: 'n1', readYaml: await loadYamlReader(), quietMs: 500 },
    clock: createManualClock(),
    async read() {
      reads += 1;
      if (failure !== undefined) throw failure;
      return Buffer.from(manifest('web'));
    },
  });
  assert.equal(await store.update(view), 0);
  assert.equal(store.verdicts()[0]?.state, 'invalid');
  assert.match(store.verdicts()[0]?.faults[0]?.message ?? '', /it cannot be read: .*too many open files/);
  failure = undefined;
  assert.equal(await store.update(view), 0, 'it has been at rest already');
  assert.equal(store.verdicts()[0]?.state, 'accepted');
  await store.update(view);
  assert.equal(reads, 2, 'what has been read is not read again');
});
