/** What is left by checkpoints that were cut short: by a crash of the agent, or of the runtime. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { abandonedFile } from '../../../../../src/agent/checkpoint/dump/abandoned-dumps.ts';
import type { CheckpointerOptions } from '../../../../../src/agent/checkpoint/index.ts';
import { createCheckpointer } from '../../../../../src/agent/checkpoint/index.ts';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { createLogger, silentLogger, systemClock, untilAborted } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { endless, standInRuntime } from '../stand-in-runtime.ts';

const impatient: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) };

/** Nobody sleeps to the end, but who is woken. */
const stopped: Clock = {
  ...systemClock,
  sleep: (_ms, signal) => (signal ? untilAborted(signal) : new Promise(() => undefined)),
};

const journal = {
  namespace: 'shop',
  pod: 'web',
  container: 'main',
  id: 'c1',
  podUid: 'u1',
  requester: 'alice',
  startedAt: '2025-11-21T10:03:04.000Z',
  bootId: 'boot-1',
};

/** An agent's folder as an earlier run left it, and a checkpointer that runs on it. */
async function lab(more: Partial<Omit<CheckpointerOptions, 'runtime'>> = {}) {
  await using setup = new AsyncDisposableStack();
  const { path: root } = setup.use(await temporaryFolder());
  const folder = join(root, 'checkpoints');
  await mkdir(join(root, 'proc/sys/kernel/random'), { recursive: true });
  await writeFile(join(root, 'proc/sys/kernel/random/boot_id'), 'boot-1\n');
  await mkdir(folder, { mode: 0o700 });
  const runtime = standInRuntime();
  const options = {
    runtime,
    rootDir: root,
    root,
    nodeName: 'node-1',
    log: silentLogger(),
    clock: impatient,
    ...more,
  };
  const checkpointer = setup.use(createCheckpointer(options));
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  setup.defer(async () => {
    stop.abort();
    await running;
  });
  /** All but the note of what was given up, which may be being written. */
  const left = async () =>
    (await readdir(folder))
      .filter((name) => name !== abandonedFile && !name.startsWith(`.${abandonedFile}.`))
      .sort();
  const resources = setup.move();
  return {
    runtime,
    checkpointer,
    folder,
    leave: async (name: string, content: object | string) => {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'archive.tar'), 'half an archive');
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      await writeFile(join(folder, name, 'journal.json'), text);
    },
    /** Resolves when it is ready. */
    run: async () => {
      const ready = Promise.withResolvers<void>();
      running = checkpointer.run(stop.signal, ready.resolve);
      await ready.promise;
    },
    ask: () =>
      checkpointer.checkpoint({
        namespace: 'shop',
        pod: 'web',
        container: 'main',
        requester: 'alice',
        cancel: new AbortController().signal,
      }),
    left,
    isEmpty: async () => (await left()).length === 0,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

describe('at its start the checkpointer', () => {
  test('thaws the containers of its own checkpoints and removes what is left of them', async () => {
    await using at = await lab();
    await at.leave('.inflight-1', journal);
    await at.leave('.inflight-2', { ...journal, id: 'c2', container: 'sidecar' });
    await writeFile(join(at.folder, 'checkpoint-a_b-c-2025-11-21T10:03:04Z.tar'), 'an archive');
    await writeFile(join(at.folder, 'note.txt'), 'of the operator');
    await at.run();
    await waitFor('the folder to be tidy', async () => (await at.left()).length === 2);
    assert.deepEqual(at.runtime.thawed.toSorted(), ['c1', 'c2']);
  });

  test('touches no container when nothing was begun, or in another boot', async () => {
    await using at = await lab();
    await mkdir(join(at.folder, '.inflight-1'));
    await writeFile(join(at.folder, '.inflight-file'), '');
    await at.leave('.inflight-2', { ...journal, bootId: 'boot-0' });
    await at.run();
    await waitFor('the folder to be empty', at.isEmpty);
    assert.deepEqual(at.runtime.thawed, []);
  });

  test('gives up a journal that makes no sense, but keeps it and says so', async () => {
    const output = new PassThrough();
    const lines: string[] = [];
    output.on('data', (chunk) => lines.push(String(chunk)));
    const log = createLogger({ format: 'json', level: 'info', output });
    await using at = await lab({ log });
    const damaged = [
      '{',
      JSON.stringify({ ...journal, id: '../c1' }),
      JSON.stringify({ ...journal, pod: undefined }),
      '[]',
      JSON.stringify(journal).padEnd(20_000),
    ];
    for (const [index, content] of damaged.entries()) await at.leave(`.inflight-${index}`, content);
    await at.run();
    const kept = damaged.map((_content, index) => `damaged-journal-${index}.json`);
    await waitFor('the drafts to be gone', async () =>
      (await at.left()).every((name) => kept.includes(name)),
    );
    assert.deepEqual(await at.left(), kept);
    for (const [index, name] of kept.entries()) {
      assert.equal(await readFile(join(at.folder, name), 'utf8'), damaged[index]);
      assert.ok(
        lines.some((line) => line.includes('"level":"error"') && line.includes(name)),
        name,
      );
    }
    assert.deepEqual(at.runtime.thawed, []);
  });

  test('does not give up a journal that cannot be read, and thaws when it can', async () => {
    await using at = await lab();
    await at.leave('.inflight-1', journal);
    await at.leave('.inflight-2', { ...journal, container: 'sidecar', id: 'c2' });
    const path = join(at.folder, '.inflight-1', 'journal.json');
    await rm(path);
    await symlink('journal.json', path); // ELOOP, an error of the system like EMFILE and EIO
    await at.run();
    await waitFor('the other to be gone', async () => (await at.left()).length === 1);
    assert.deepEqual(await at.left(), ['.inflight-1']);
    assert.deepEqual(at.runtime.thawed, ['c2']);
    await writeFile(`${path}.new`, JSON.stringify(journal));
    await rename(`${path}.new`, path);
    await waitFor('the folder to be empty', at.isEmpty);
    assert.deepEqual(at.runtime.thawed, ['c2', 'c1']);
  });

  test('thaws the container even when the archive cannot be removed first', async () => {
    await using at = await lab();
    await at.leave('.inflight-1', journal);
    const archive = join(at.folder, '.inflight-1', 'archive.tar');
    await rm(archive);
    await mkdir(archive);
    await at.run();
    await waitFor('the folder to be empty', at.isEmpty);
    assert.deepEqual(at.runtime.thawed, ['c1']);
  });

  test('is ready once what was left has been looked after', async () => {
    await using at = await lab({ clock: stopped });
    await at.leave('.inflight-1', journal);
    const thawed = Promise.withResolvers<'resumed'>();
    at.runtime.thawing = () => thawed.promise;
    let ready = false;
    const started = at.run().then(() => {
      ready = true;
    });
    await waitFor('the try', () => at.runtime.thawed.length === 1);
    assert.equal(ready, false);
    thawed.resolve('resumed');
    await started;
    const { path } = await at.ask();
    assert.ok(path);
  });

  test('is ready without any time passing when nothing was left, and makes checkpoints', async () => {
    await using at = await lab({ clock: stopped });
    await at.run();
    assert.deepEqual(at.runtime.thawed, []);
    const { path } = await at.ask();
    assert.ok(path);
  });

  test('is ready after 5 s in any case, and refuses only what may be frozen still', async () => {
    const bell = Promise.withResolvers<void>();
    const sleep: Clock['sleep'] = (ms, signal) => (ms === 5000 ? bell.promise : stopped.sleep(ms, signal));
    await using at = await lab({ clock: { ...systemClock, sleep } });
    await at.leave('.inflight-1', journal);
    await at.leave('.inflight-2', { ...journal, container: 'sidecar', id: 'c2' });
    const failing = new RuntimeError('stillFrozen', 'no container runtime found');
    at.runtime.thawing = async (id, cancel) => {
      if (id === 'c2' && cancel) await untilAborted(cancel); // the first try lasts
      throw failing;
    };
    const started = at.run();
    await waitFor('the tries', () => at.runtime.thawed.length === 2);
    bell.resolve();
    await started;
    await assert.rejects(at.ask(), {
      reason: 'stillFrozen',
      message:
        'checkpointing of shop/web/main failed (an earlier checkpoint may have left it frozen; the agent is trying to resume it, try again later)',
    });
    assert.deepEqual(at.runtime.files, []);
    at.runtime.found = { id: 'c1-restarted', sandboxId: 's1', podUid: 'u1', state: 'running' };
    const { path } = await at.ask();
    assert.ok(path);
  });

  test('tries again for as long as the runtime is away', async () => {
    await using at = await lab();
    await at.leave('.inflight-1', journal);
    let tries = 0;
    at.runtime.thawing = async () => {
      tries += 1;
      if (tries < 4) throw new RuntimeError('stillFrozen', 'no container runtime found');
      return 'resumed';
    };
    await at.run();
    await waitFor('the folder to be empty', at.isEmpty);
    assert.equal(tries, 4);
  });

  test('does not touch what is under way', async () => {
    await using at = await lab();
    const begun = Promise.withResolvers<void>();
    at.runtime.write = endless(begun.resolve);
    const cancel = new AbortController();
    const request = { namespace: 'shop', pod: 'web', container: 'main', requester: 'alice' };
    const asked = at.checkpointer.checkpoint({ ...request, cancel: cancel.signal });
    await begun.promise;
    const [draft] = await at.left();
    await at.leave('.inflight-0', { ...journal, container: 'sidecar', id: 'c2' });
    await at.run();
    await waitFor('the left-over to be gone', async () => (await at.left()).length === 1);
    assert.deepEqual(await at.left(), [draft]);
    assert.deepEqual(at.runtime.thawed, ['c2']);
    cancel.abort();
    await assert.rejects(asked, { reason: 'cancelled' });
  });
});

test('a container that cannot be proven to run keeps no newly frozen one waiting', async () => {
  for (const lasting of [false, true]) {
    await using at = await lab({ clock: stopped, readyMs: 0 });
    await at.leave('.inflight-1', { ...journal, container: 'sidecar', id: 'c2' });
    at.runtime.thawing = async (id, cancel) => {
      if (id === 'c1') return 'resumed';
      if (lasting && cancel) await untilAborted(cancel);
      throw new RuntimeError('stillFrozen', 'its task is unknown');
    };
    at.runtime.write = async () => {
      throw new RuntimeError('stillFrozen', 'Connection dropped');
    };
    void at.run();
    await waitFor('the first try', () => at.runtime.thawed.length === 1);
    await assert.rejects(at.ask(), { reason: 'stillFrozen' });
    await waitFor('the new one to be tidied', async () => (await at.left()).length === 1);
    assert.deepEqual(await at.left(), ['.inflight-1']);
    assert.deepEqual(at.runtime.thawed, ['c2', 'c1']);
  }
});

test('what was asked by somebody with a very long name is put right too', async () => {
  await using at = await lab();
  at.runtime.write = async () => {
    throw new RuntimeError('stillFrozen', 'Connection dropped');
  };
  const cancel = new AbortController().signal;
  const requester = 'a'.repeat(20_000);
  const request = { namespace: 'shop', pod: 'web', container: 'main', requester, cancel };
  await assert.rejects(at.checkpointer.checkpoint(request), { reason: 'stillFrozen' });
  await at.run();
  await waitFor('the folder to be empty', at.isEmpty);
  assert.deepEqual(at.runtime.thawed, ['c1']);
});

test('a container that a checkpoint left frozen is looked after until it runs', async () => {
  await using at = await lab();
  await at.run();
  at.runtime.write = async () => {
    throw new RuntimeError('stillFrozen', 'Connection dropped');
  };
  let away = true;
  at.runtime.thawing = async () => {
    if (away) throw new RuntimeError('stillFrozen', 'Connection dropped');
    return 'resumed';
  };
  const request = { namespace: 'shop', pod: 'web', container: 'main', requester: 'alice' };
  await assert.rejects(at.checkpointer.checkpoint({ ...request, cancel: new AbortController().signal }), {
    reason: 'stillFrozen',
    message: 'checkpointing of shop/web/main failed (Connection dropped)',
  });
  await waitFor('a try', () => at.runtime.thawed.length > 0);
  assert.equal((await at.left()).length, 1);
  away = false;
  await waitFor('the folder to be empty', at.isEmpty);
});
