import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type {
  FolderDiff,
  FolderEntry,
  FolderView,
  FolderWatch,
} from '../../../../../src/base/folder-watch/index.ts';
import { untilAborted } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { good, sampleRegistry } from './sample-registry.ts';

const entry: FolderEntry = {
  path: 'a.json',
  kind: 'file',
  identity: '1',
  size: good.length,
  mtimeMs: 0,
  mode: 0o600,
  uid: 0,
};

/** A watch that sees what the test says. */
function toldWatch() {
  const listeners = new Set<(diff: FolderDiff) => void>();
  let view: FolderView = { entries: new Map(), by: 'events' };
  const watch: FolderWatch = {
    get view() {
      return view;
    },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    rescan: async () => view,
    async run(signal, ready) {
      ready();
      await untilAborted(signal);
    },
  };
  function see(entries: readonly FolderEntry[], diff: Partial<FolderDiff>): void {
    view = { entries: new Map(entries.map((each) => [each.path, each])), by: 'events' };
    for (const listener of listeners) listener({ view, added: [], changed: [], removed: [], ...diff });
  }
  return { watch, see };
}

test('a file that was there between two looks of the watch only is not listed for ever', async () => {
  await using home = await temporaryFolder();
  const { watch, see } = toldWatch();
  await using sample = await sampleRegistry({ watch, folder: home.path });
  const file = join(home.path, 'a.json');
  await writeFile(file, good);
  see([entry], { added: [entry] });
  await waitFor('it to be judged', () =>
    sample.registry.profiles().some(({ verdict }) => verdict?.kind === 'valid'),
  );

  // the watch sees it go, and it is there again for as long as the registry looks
  see([], { removed: [entry] });
  await waitFor('the registry to have looked', () =>
    sample.registry.profiles().every(({ isSettling }) => !isSettling),
  );
  assert.equal(sample.registry.profiles().length, 1);
  await rm(file);

  await waitFor('it to be forgotten', () => sample.registry.profiles().length === 0);
});
