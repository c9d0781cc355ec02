import assert from 'node:assert/strict';
import { readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { LinkKeeper, linkLog, listContainerLogs } from '../../../../../src/agent/pods/logs/index.ts';
import { toContainerView } from '../../../../../src/agent/pods/view/convert.ts';
import type { ContainerView, PodView, RuntimeView } from '../../../../../src/agent/pods/view/types.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { containerStatus } from '../view/fake-calls.ts';

/** A view that a test sets. */
class SetView implements RuntimeView {
  readonly #pods = new Map<string, PodView>();
  readonly #listeners = new Set<(uid: string) => void>();
  complete = true;

  set(uid: string, containers: readonly Partial<ContainerView>[]): void {
    const made = containers.map((changes, index) => ({
      ...toContainerView(containerStatus(`${uid}${index}`, uid), 's'),
      logPath: `/logs/default_${uid}_${uid}/main/${index}.log`,
      ...changes,
    }));
    if (made.length === 0) this.#pods.delete(uid);
    else this.#pods.set(uid, { uid, namespace: 'default', name: uid, sandboxes: [], containers: made });
    for (const listener of this.#listeners) listener(uid);
  }

  isComplete = () => this.complete;
  pod = (uid: string) => this.#pods.get(uid);
  pods = () => [...this.#pods.values()];
  refresh = async (uid: string) => this.#pods.get(uid);
  reread = async (uid: string) => this.#pods.get(uid);
  onChange(listener: (uid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}

describe('links to the logs of containers', { timeout: 20_000 }, () => {
  async function start(view: SetView, linksDir: string) {
    const clock = createManualClock();
    const keeper = new LinkKeeper({
      ...{ linksDir, logsDir: '/logs', view, clock, log: silentLogger() },
      isOwn: async () => false,
    });
    const end = new AbortController();
    const running = keeper.run(end.signal, () => undefined);
    return {
      until: (names: readonly string[]) =>
        waitFor(`the links ${names.join(' ')}`, async () => {
          await clock.advance(1000);
          return JSON.stringify((await readdir(linksDir).catch(() => [])).sort()) === JSON.stringify(names);
        }),
      async [Symbol.asyncDispose]() {
        end.abort();
        await running;
      },
    };
  }

  test('come with the start and go with the container', async () => {
    await using folder = await temporaryFolder();
    const links = join(folder.path, 'containers');
    const view = new SetView();
    view.set('a', [{}]);
    await using it = await start(view, links);
    await it.until(['a_default_main-a0.log']);
    assert.equal(await readlink(join(links, 'a_default_main-a0.log')), '/logs/default_a_a/main/0.log');
    view.set('a', [{ state: 'exited' }, {}]);
    view.set('b', [{ state: 'created' }]);
    await it.until(['a_default_main-a0.log', 'a_default_main-a1.log']);
    view.set('a', []);
    await it.until([]);
  });

  test('of containers that went while the agent was away go once all is known', async () => {
    await using folder = await temporaryFolder();
    const [links, old] = [folder.path, { namespace: 'default', name: 'a', container: 'main' }];
    await linkLog(links, { ...old, containerId: 'old' }, '/logs/default_a_a/main/0.log');
    const view = new SetView();
    view.complete = false;
    view.set('a', [{}]);
    await using it = await start(view, links);
    await it.until(['a_default_main-a0.log', 'a_default_main-old.log']);
    view.complete = true;
    await it.until(['a_default_main-a0.log']);
  });

  test('are tried again where they cannot be made', async () => {
    await using folder = await temporaryFolder();
    const links = join(folder.path, 'containers');
    await writeFile(links, '');
    const view = new SetView();
    view.set('a', [{}]);
    await using it = await start(view, links);
    await it.until([]);
    await rm(links);
    await it.until(['a_default_main-a0.log']);
  });

  test('a rotator is given what was started, when all is known', () => {
    const view = new SetView();
    view.set('a', [{ state: 'exited' }, {}, { state: 'created' }, { logPath: '' }]);
    assert.deepEqual(listContainerLogs(view), [
      { id: 'a0', logPath: '/logs/default_a_a/main/0.log', isRunning: false },
      { id: 'a1', logPath: '/logs/default_a_a/main/1.log', isRunning: true },
    ]);
    view.complete = false;
    assert.equal(listContainerLogs(view), undefined);
  });
});
