/** A pod as one set: in order, all or nothing, and every container let go whatever happens. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createKeyPair } from '../../../../src/agent/checkpoint/index.ts';
import type { FoundMember, Released } from '../../../../src/agent/runtime/index.ts';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { createMetrics } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import { tarArchive } from './archives.ts';
import { lab, settings } from './checkpoint-lab.ts';
import { endless } from './stand-in-runtime.ts';

const member = (name: string, id: string): FoundMember => {
  return { name, id, sandboxId: 's1', podUid: 'u1', state: 'running' };
};
const three = [member('init', 'c1'), member('web', 'c2'), member('log', 'c3')];
const released = ['release c3', 'release c2', 'release c1'];

async function threeOf(options: Parameters<typeof lab>[0] = {}) {
  const at = await lab(options);
  at.runtime.members = three;
  return at;
}

describe('a pod', () => {
  test('becomes a set: frozen in order, dumped, released in the reverse order, under one manifest', async () => {
    await using at = await threeOf();
    const { manifest, path, checkpoints } = await at.askPod();
    assert.deepEqual(at.runtime.held, [
      ...['freeze c1', 'freeze c2', 'freeze c3', 'dump c1', 'dump c2', 'dump c3'],
      ...released,
    ]);
    assert.match(path, /\/checkpoint-web_shop-[\dTZ:.-]+\.set\.json$/);
    assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), manifest);
    assert.deepEqual(
      manifest.members.map(({ container }) => container),
      ['init', 'web', 'log'],
    );
    for (const [index, { id, record }] of checkpoints.entries()) {
      assert.equal(record.set, manifest.id);
      assert.equal(record.pausedMs, 12);
      assert.equal(manifest.members[index]?.sha256, record.sha256);
      assert.ok(!('pinned' in (manifest.members[index] ?? {})));
      assert.deepEqual((await at.checkpointer.archives.read(id))?.record, record);
    }
    assert.deepEqual(await at.checkpointer.archives.listSets(), [manifest]);
    assert.equal((await at.left()).length, 7);
  });

  test('counts as one request, and each of its archives as one', async () => {
    const metrics = createMetrics();
    await using at = await threeOf({ metrics });
    const told: [string, boolean][] = [];
    at.checkpointer.onMade(({ id }) => void told.push([id, at.checkpointer.isUnannounced(id)]));
    const { checkpoints } = await at.askPod();
    const text = await metrics.metrics();
    assert.match(text, /^nodeward_checkpoint_requests_total\{result="made"\} 1$/m);
    assert.match(text, /^nodeward_checkpoint_seconds_count 3$/m);
    // retention must not take them before it is told of them
    assert.deepEqual(
      told,
      checkpoints.map(({ id }) => [id, true]),
    );
    for (const { id } of checkpoints) assert.ok(!at.checkpointer.isUnannounced(id));
  });

  test('that there is not is 404 to the client, one without running containers is not', async () => {
    await using at = await threeOf();
    await assert.rejects(at.askPod({ pod: 'db' }), { reason: 'noPod', message: 'pod does not exist' });
    await assert.rejects(at.askPod({ pod: '../web' }), { reason: 'noPod' });
    at.runtime.members = [];
    await assert.rejects(at.askPod(), {
      reason: 'notRunning',
      message: 'checkpointing of shop/web failed (none of its containers runs)',
    });
  });

  test('of which one cannot be dumped leaves nothing, and says which it was', async () => {
    await using at = await threeOf();
    const { write } = at.runtime;
    at.runtime.write = async (file, cancel, id) => {
      if (id === 'c2') throw new RuntimeError('failed', 'criu failed');
      await write(file, cancel, id);
    };
    await assert.rejects(at.askPod(), {
      reason: 'failed',
      message: 'checkpointing of shop/web/web failed (criu failed)',
    });
    assert.deepEqual(at.runtime.held.slice(-3), released);
    assert.deepEqual(await at.left(), []);
  });

  test('of which one cannot be frozen: those before it are let go', async () => {
    await using at = await threeOf();
    at.runtime.freezing = async (id) => {
      if (id === 'c2') throw new RuntimeError('notFound', 'no such task');
    };
    await assert.rejects(at.askPod(), {
      reason: 'notRunning',
      message: 'checkpointing of shop/web/web failed (it has ended)',
    });
    assert.deepEqual(at.runtime.held, ['freeze c1', 'freeze c2', 'release c2', 'release c1']);
    assert.deepEqual(await at.left(), []);
  });

  test('of which one archive is none leaves nothing', async () => {
    await using at = await threeOf();
    at.runtime.write = (file, _cancel, id) =>
      writeFile(file, id === 'c3' ? 'nonsense' : tarArchive('a', 'b'));
    await assert.rejects(at.askPod(), {
      reason: 'storage',
      message: /shop\/web\/log failed \(.*not a tar archive/,
    });
    assert.deepEqual(await at.left(), []);
  });

  test('of which one may still be frozen keeps its journal alone, and is looked after', async () => {
    await using at = await threeOf();
    const stillFrozen: Released = { thawed: new RuntimeError('stillFrozen', 'it is paused'), pausedMs: 1 };
    at.runtime.releasing = async (id) => (id === 'c2' ? stillFrozen : { thawed: 'running', pausedMs: 1 });
    await assert.rejects(at.askPod(), {
      reason: 'stillFrozen',
      message: 'checkpointing of shop/web/web failed (it is paused)',
    });
    const left = await at.left();
    assert.equal(left.length, 1);
    const journal = JSON.parse(await readFile(join(at.folder, left[0] ?? '', 'journal.json'), 'utf8'));
    assert.deepEqual([journal.container, journal.id], ['web', 'c2']);
    await assert.rejects(at.askPod(), { reason: 'stillFrozen', message: /try again later/ });
    const stop = new AbortController();
    const running = at.checkpointer.run(stop.signal, () => undefined);
    await waitFor('it to be looked after', async () => (await at.left()).length === 0);
    assert.deepEqual(at.runtime.thawed, ['c2']);
    stop.abort();
    await running;
  });

  test('is let go when the client goes away, and when the time is over', async () => {
    await using at = await threeOf();
    const begun = Promise.withResolvers<void>();
    at.runtime.write = endless(begun.resolve);
    const cancel = new AbortController();
    const asked = at.askPod({ cancel: cancel.signal });
    await begun.promise;
    cancel.abort();
    await assert.rejects(asked, {
      reason: 'cancelled',
      message: 'checkpointing of shop/web failed (the client went away)',
    });
    assert.deepEqual(at.runtime.held.slice(-3), released);
    await assert.rejects(at.askPod({ timeoutMs: 20 }), {
      reason: 'timeout',
      message: 'checkpointing of shop/web failed (timed out after 0.02 s)',
    });
    assert.deepEqual(at.runtime.held.slice(-3), released);
    assert.deepEqual(await at.left(), []);
  });

  test('is let go when the agent is stopped, which waits for it', async () => {
    await using at = await threeOf({ closeMs: 1 });
    const begun = Promise.withResolvers<void>();
    at.runtime.write = endless(begun.resolve);
    const letGo = Promise.withResolvers<void>();
    at.runtime.releasing = async () => {
      await letGo.promise;
      return { thawed: 'running', pausedMs: 1 };
    };
    const refused = assert.rejects(at.askPod(), { reason: 'stopping' });
    await begun.promise;
    const closed = at.checkpointer[Symbol.asyncDispose]();
    setTimeout(letGo.resolve, 50); // longer than it waits for others
    await closed;
    assert.deepEqual(at.runtime.held.slice(-3), released);
    await refused;
  });

  test('needs room for all of its containers together', async () => {
    const reserve = { diskReserve: { bytes: 0 } };
    await using at = await threeOf({ settings: settings(reserve) });
    at.runtime.memory = async () => 2 ** 60;
    await assert.rejects(at.askPod(), {
      reason: 'noRoom',
      message: /^checkpointing of shop\/web\/init failed \(not enough room/,
    });
    assert.deepEqual(at.runtime.held, []);
    assert.deepEqual(await at.left(), []);
  });

  test('whose container is being checkpointed waits, or is refused where that is configured', async () => {
    let onConflict: 'Wait' | 'Refuse' = 'Wait';
    await using at = await threeOf({ settings: () => settings({ onConflict })() });
    at.runtime.members = [member('main', 'c1'), member('web', 'c2')];
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { write } = at.runtime;
    at.runtime.write = async (file, cancel, id) => {
      begun.resolve();
      await end.promise;
      await write(file, cancel, id);
    };
    const single = at.ask();
    await begun.promise;
    onConflict = 'Refuse';
    await assert.rejects(at.askPod(), {
      reason: 'conflict',
      message: /^checkpointing of shop\/web\/main failed/,
    });
    assert.deepEqual(at.runtime.held, []);
    onConflict = 'Wait';
    const waits = at.askPod();
    end.resolve();
    await single;
    assert.equal((await waits).checkpoints.length, 2);
    onConflict = 'Refuse';
    assert.equal((await at.askPod()).checkpoints.length, 2);
  });

  test('and its containers, in any number at once: nobody waits for ever, no two hold one container', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('pod', 'main'), { minLength: 2, maxLength: 6 }),
        fc.shuffledSubarray(three, { minLength: 3 }),
        fc.integer({ min: 1, max: 3 }),
        async (wanted, others, maxConcurrent) => {
          await using at = await lab({ settings: settings({ maxConcurrent }) });
          at.runtime.members = [member('main', 'c0'), ...others];
          const busy = new Set<string>();
          at.runtime.write = async (file, _cancel, given) => {
            const id = given === 'c0' || given === 'c1' ? given : `${given}-`;
            assert.ok(!busy.has(id), `${id} twice`);
            busy.add(id);
            await writeFile(file, tarArchive('a', 'b'));
            busy.delete(id);
          };
          await Promise.all(wanted.map((what) => (what === 'pod' ? at.askPod() : at.ask())));
          const pods = wanted.filter((what) => what === 'pod').length;
          assert.equal((await at.checkpointer.archives.listSets()).length, pods);
          assert.equal((await at.checkpointer.archives.list()).length, pods * 4 + wanted.length - pods);
        },
      ),
      { numRuns: 15 },
    );
  });

  test('is sealed as a whole, or not made when it cannot be sealed', async () => {
    const { recipient } = await createKeyPair();
    let recipientsFile = '';
    await using at = await threeOf({
      settings: () => settings({ encryption: { recipients: [recipient], recipientsFile } })(),
    });
    const { manifest, checkpoints } = await at.askPod();
    assert.ok(checkpoints.every(({ path }) => path.endsWith('.tar.age')));
    assert.ok(manifest.members.every(({ sealed }) => sealed?.recipients[0] === recipient));
    const before = await at.left();
    assert.deepEqual(
      before.filter((name) => name.endsWith('.tar')),
      [],
    );
    recipientsFile = join(at.rootDir, 'absent');
    await assert.rejects(at.askPod(), {
      reason: 'storage',
      message: /^checkpointing of shop\/web failed \(ENOENT/,
    });
    await assert.rejects(at.ask(), {
      reason: 'storage',
      message: /^checkpointing of shop\/web\/main failed \(ENOENT/,
    });
    assert.deepEqual(await at.left(), before);
  });
});
