import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodStatus } from '../../../../../src/agent/pods/status/index.ts';
import { ConnectionError } from '../../../../../src/client/index.ts';
import { nameOf, refusal, writerWorld } from './fake-api.ts';

const at = '2026-05-01T12:00:00Z';
const condition = (type: string, status: string) => ({ type, status, lastTransitionTime: at });
const status = (phase: string, ready = 'False', more: Partial<PodStatus> = {}): PodStatus => ({
  phase,
  conditions: [condition('Ready', ready), condition('PodScheduled', 'True')],
  startTime: at,
  ...more,
});
const dying = { deletionTimestamp: at, deletionGracePeriodSeconds: 30 };
const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);
const broken = () => new ConnectionError('broken', 'the connection broke');

describe('a status that is set', () => {
  test('is written by one PATCH with the uid, and by no other call', async () => {
    const { writer, asked, sent, statusOf, running, clock } = writerWorld(['web']);
    await running(async () => {
      writer.set(
        nameOf('web'),
        status('Running', 'True', { podIPs: [{ ip: '10.0.0.5' }], podIP: '10.0.0.5' }),
      );
      await clock.advance(120_000);
    });
    assert.deepEqual(asked, ['patch web']);
    assert.partialDeepStrictEqual(sent[0], { metadata: { uid: 'uid-web' }, status: { phase: 'Running' } });
    assert.partialDeepStrictEqual(statusOf('web'), { phase: 'Running', podIPs: [{ ip: '10.0.0.5' }] });
    assert.equal(statusOf('web')?.qosClass, 'BestEffort');
  });

  test('is not written where the API has it, but for the times of transitions', async () => {
    const { writer, asked, put, running, clock } = writerWorld(['web']);
    const there = status('Running', 'True', { reason: '', hostIPs: [] });
    const earlier = there.conditions?.map((each) => ({
      ...each,
      lastTransitionTime: '2025-01-01T00:00:00.000Z',
    }));
    put('web', (pod) => ({ ...pod, status: { ...pod.status, ...there, conditions: earlier ?? [] } }));
    await running(async () => {
      writer.set(nameOf('web'), status('Running', 'True'));
      await clock.advance(120_000);
    });
    assert.deepEqual(asked, []);
  });

  test('is the newest alone when the API was slow', async () => {
    const { writer, asked, state, statusOf, running, clock } = writerWorld(['web']);
    const { promise, resolve } = Promise.withResolvers<void>();
    state.before = () => promise;
    await running(async () => {
      writer.set(nameOf('web'), status('Pending'));
      await clock.advance(10);
      for (const phase of ['Pending', 'Running', 'Pending']) writer.set(nameOf('web'), status(phase));
      writer.set(nameOf('web'), status('Running', 'True'));
      resolve();
      await clock.advance(10);
    });
    assert.deepEqual(asked, ['patch web', 'patch web']);
    assert.equal(statusOf('web')?.phase, 'Running');
  });

  test('that only says more about a wait is written a second after the last, what others wait for at once', async () => {
    const { writer, asked, statusOf, running, clock } = writerWorld(['web']);
    const waits = (message: string): PodStatus => {
      const state = { waiting: { reason: 'ContainerCreating', message } };
      const main = { name: 'main', ready: false, restartCount: 0, image: '', imageID: '', state };
      return status('Pending', 'False', { containerStatuses: [main] });
    };
    const message = () => statusOf('web')?.containerStatuses?.[0]?.state?.waiting?.message;
    await running(async () => {
      writer.set(nameOf('web'), waits('nothing'));
      await clock.advance(450);
      writer.set(nameOf('web'), waits('folders'));
      assert.deepEqual(asked, [], 'a pod that starts at once is first told of when it runs');
      await clock.advance(60);
      assert.equal(message(), 'folders');
      for (const next of ['sandbox', 'address']) writer.set(nameOf('web'), waits(next));
      await clock.advance(900);
      assert.equal(message(), 'folders');
      await clock.advance(100);
      assert.equal(message(), 'address');
      writer.set(nameOf('web'), waits('container'));
      writer.set(nameOf('web'), status('Running', 'True'));
      await clock.advance(10);
      assert.equal(statusOf('web')?.phase, 'Running');
      await clock.advance(120_000);
    });
    assert.deepEqual(asked, ['patch web', 'patch web', 'patch web']);
  });

  for (const field of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const)
    test(`is no change where a start fails as the one before it, but where it takes long (${field})`, async () => {
      const { writer, asked, running, clock } = writerWorld(['web']);
      const set = (reason: string, message: string) => {
        const state = { waiting: { reason, message } };
        const main = { name: 'main', ready: false, restartCount: 0, image: '', imageID: '', state };
        writer.set(nameOf('web'), status('Pending', 'False', { [field]: [main] }));
      };
      const fails = () => set('CreateContainerConfigError', 'secret "a" not found');
      await running(async () => {
        fails();
        for (let tries = 0; tries < 6; tries += 1) {
          await clock.advance(10_000);
          set('ContainerCreating', 'it is being started');
          await clock.advance(100);
          fails();
        }
        await clock.advance(10_000);
        assert.deepEqual(asked, ['patch web']);
        set('ContainerCreating', 'it is being started');
        await clock.advance(2000);
        assert.deepEqual(asked, ['patch web', 'patch web']);
      });
    });

  test('that only says more about a wait does not delay the deletion', async () => {
    const { writer, asked, put, running, clock } = writerWorld(['web']);
    put('web', (pod) => ({ ...pod, metadata: { ...pod.metadata, ...dying } }));
    const releasing = { ...condition('PodReadyToStartContainers', 'False'), message: 'being released' };
    const ended = status('Succeeded');
    await running(async () => {
      writer.set(nameOf('web'), ended);
      await clock.advance(10);
      writer.set(nameOf('web'), { ...ended, conditions: [...(ended.conditions ?? []), releasing] });
      writer.confirmDeletion(nameOf('web'));
      await clock.advance(10);
    });
    assert.deepEqual(asked, ['patch web', 'delete web']);
  });

  test('goes back to what the watch still shows, though that was overwritten since', async () => {
    const { writer, state, statusOf, show, running, clock } = writerWorld(['web']);
    await running(async () => {
      state.isWatchBehind = true;
      writer.set(nameOf('web'), status('Running', 'True'));
      await clock.advance(10);
      writer.set(nameOf('web'), status('Running', 'False'));
      await clock.advance(10);
      assert.equal(statusOf('web')?.conditions?.[0]?.status, 'False');
      state.isWatchBehind = false;
      show();
      await clock.advance(120_000);
    });
    assert.equal(statusOf('web')?.conditions?.[0]?.status, 'False');
  });

  test('takes away what it says no more, and leaves the conditions of others', async () => {
    const { writer, put, statusOf, running, clock } = writerWorld(['web']);
    const other = { type: 'lb.test/ready', status: 'True' };
    const before = { ...condition('Ready', 'False'), reason: 'PodFailed', message: 'why' };
    put('web', (pod) => ({
      ...pod,
      status: {
        ...{
          phase: 'Pending',
          reason: 'NotStarted',
          message: 'no',
          podIP: '10.0.0.4',
          podIPs: [{ ip: '10.0.0.4' }],
        },
        conditions: [other, before],
      },
    }));
    await running(async () => {
      writer.set(
        nameOf('web'),
        status('Running', 'True', { podIP: '10.0.0.5', podIPs: [{ ip: '10.0.0.5' }] }),
      );
      await clock.advance(10);
    });
    const { reason, message, podIPs, conditions = [] } = statusOf('web') ?? {};
    assert.deepEqual([reason, message, podIPs], [undefined, undefined, [{ ip: '10.0.0.5' }]]);
    assert.deepEqual(
      conditions.find(({ type }) => type === 'lb.test/ready'),
      other,
    );
    assert.deepEqual(
      conditions.find(({ type }) => type === 'Ready'),
      condition('Ready', 'True'),
    );
  });

  test('is sent again when another changed it, and not at full speed', async () => {
    const { writer, asked, put, statusOf, running, clock } = writerWorld(['web']);
    await running(async () => {
      writer.set(nameOf('web'), status('Running', 'True'));
      await clock.advance(10);
      for (let round = 0; round < 5; round += 1) {
        put('web', (pod) => ({ ...pod, status: { ...pod.status, phase: 'Unknown' } }));
        await clock.advance(10);
      }
      const { length } = asked;
      assert.ok(length <= 3, `${length} writes in 50 ms`);
      await clock.advance(10_000);
    });
    assert.equal(statusOf('web')?.phase, 'Running');
  });

  test('that is new does not wait for a fight over the old one', async () => {
    const { writer, asked, put, statusOf, running, clock } = writerWorld(['web']);
    await running(async () => {
      for (let round = 0; round < 2000; round += 1) {
        writer.set(nameOf('web'), status('Running', 'True'));
        put('web', (pod) => ({ ...pod, status: { ...pod.status, phase: 'Unknown' } }));
        await clock.advance(100);
      }
      assert.ok(asked.length < 30, `${asked.length} writes in 200 s`);
      writer.set(nameOf('web'), status('Failed'));
      await clock.advance(10);
    });
    assert.equal(statusOf('web')?.phase, 'Failed');
  });

  test('is not sent for ever where the API keeps it otherwise', async () => {
    const { writer, asked, state, put, running, clock } = writerWorld(['web']);
    state.after = async (what) => {
      const name = what.split(' ')[1] ?? '';
      state.after = async () => undefined;
      put(name, (pod) => ({ ...pod, status: { ...pod.status, startTime: '2020-01-01T00:00:00Z' } }));
    };
    await running(async () => {
      writer.set(nameOf('web'), status('Running', 'True'));
      await clock.advance(600_000);
    });
    assert.ok(asked.length <= 3, `${asked.length} writes`);
  });

  test('waits until the watch shows the pod', async () => {
    const { writer, asked, put, running, clock } = writerWorld([]);
    await running(async () => {
      writer.set(nameOf('web'), status('Running'));
      await clock.advance(120_000);
      assert.deepEqual(asked, []);
      put('web');
      await clock.advance(10);
    });
    assert.deepEqual(asked, ['patch web']);
  });
});

describe('many pods', () => {
  test('are written beside one another, eight at once', async () => {
    const { writer, asked, state, running, clock } = writerWorld(names(30));
    state.before = () => clock.sleep(100);
    await running(async () => {
      for (const name of names(30)) writer.set(nameOf(name), status('Running'));
      await clock.advance(400);
    });
    assert.deepEqual([asked.length, state.maxAtOnce], [30, 8]);
  });

  test('those that became ready or ended go first', async () => {
    const { writer, asked, state, running, clock } = writerWorld(names(30));
    state.before = () => clock.sleep(100);
    await running(async () => {
      for (const name of names(20)) writer.set(nameOf(name), status('Running'));
      writer.set(nameOf('p28'), status('Running', 'True'));
      writer.set(nameOf('p29'), status('Failed'));
      await clock.advance(150);
    });
    assert.deepEqual(asked.slice(8, 10), ['patch p28', 'patch p29']);
  });

  test('one that the API hangs on holds up no other', async () => {
    const { writer, state, statusOf, running, clock } = writerWorld(names(12));
    const { promise, resolve } = Promise.withResolvers<void>();
    state.before = (what) => (what === 'patch p0' ? promise : Promise.resolve());
    await running(async () => {
      for (const name of names(12)) writer.set(nameOf(name), status('Running'));
      await clock.advance(10);
      for (const name of names(12).slice(1)) assert.equal(statusOf(name)?.phase, 'Running', name);
      resolve();
    });
  });
});

describe('an API that fails', () => {
  test('for an hour gets the newest of each pod alone', async () => {
    const { writer, asked, sent, lines, state, statusOf, running, clock } = writerWorld(names(20));
    let isAway = true;
    state.before = async () => {
      if (isAway) throw broken();
    };
    await running(async () => {
      for (let minute = 0; minute < 60; minute += 1) {
        for (const name of names(20))
          writer.set(nameOf(name), status('Running', 'False', { message: `m${minute}` }));
        await clock.advance(60_000);
      }
      isAway = false;
      asked.length = 0;
      await clock.advance(30_000);
    });
    assert.equal(asked.length, 20);
    assert.equal(sent.length, 20);
    for (const name of names(20)) assert.equal(statusOf(name)?.message, 'm59');
    assert.equal(
      lines.filter((line) => line.includes('write the status of pods') && !line.includes('DEBUG')).length > 0,
      true,
    );
  });

  test('once one pod got through, the others wait no longer', async () => {
    const { writer, asked, state, running, clock } = writerWorld(names(10));
    let isAway = true;
    state.before = async () => {
      if (isAway) throw broken();
    };
    await running(async () => {
      for (const name of names(10)) writer.set(nameOf(name), status('Running'));
      await clock.advance(300_000);
      isAway = false;
      asked.length = 0;
      await clock.advanceUntil(() => asked.length > 0, 30_000);
      await clock.advance(1);
    });
    assert.equal(asked.length, 10);
  });

  test('a write whose answer was lost is made whole by the next', async () => {
    const { writer, sent, state, statusOf, running, clock } = writerWorld(['web']);
    state.isWatchBehind = true;
    state.after = async () => {
      state.after = async () => undefined;
      throw broken();
    };
    await running(async () => {
      writer.set(nameOf('web'), status('Running', 'True'));
      await clock.advance(10);
      writer.set(nameOf('web'), status('Pending'));
      await clock.advance(1000);
    });
    assert.equal(statusOf('web')?.phase, 'Pending');
    assert.partialDeepStrictEqual(sent.at(-1), { status: { phase: 'Pending', startTime: at } });
  });

  test('a refusal is logged once and tried again ever more rarely', async () => {
    const { writer, asked, lines, state, running, clock } = writerWorld(['web']);
    state.before = async () => {
      throw refusal('Invalid');
    };
    await running(async () => {
      writer.set(nameOf('web'), status('Running'));
      await clock.advance(600_000);
    });
    assert.ok(asked.length > 20 && asked.length < 40, String(asked.length));
    assert.equal(lines.filter((line) => line.includes('default/web')).length, 1);
  });
});

describe('a pod that is not that pod any more', () => {
  test('gets nothing when it was replaced by one of its name', async () => {
    const { writer, asked, onApi, put, statusOf, running, clock } = writerWorld(['web']);
    onApi.delete('web');
    put('web', undefined, 'uid-2');
    await running(async () => {
      writer.set(nameOf('web'), status('Running'));
      await clock.advance(120_000);
    });
    assert.deepEqual(asked, []);
    assert.equal(statusOf('web')?.phase, 'Pending');
    assert.equal(writer.get('uid-web'), undefined);
  });

  for (const [what, replaced] of [
    ['gone', false],
    ['replaced', true],
  ] as const)
    test(`is dropped when it is ${what} and the watch does not show it yet`, async () => {
      const { writer, asked, onApi, put, show, state, lines, running, clock } = writerWorld(['web']);
      state.isWatchBehind = true;
      onApi.delete('web');
      if (replaced) put('web', undefined, 'uid-2');
      await running(async () => {
        writer.set(nameOf('web'), status('Running'));
        await clock.advance(150);
        state.isWatchBehind = false;
        show();
        await clock.advance(600_000);
      });
      assert.deepEqual(asked, ['patch web']);
      assert.deepEqual(lines, []);
      assert.equal(writer.get('uid-web'), undefined);
    });
});

describe('a deletion that is confirmed', () => {
  const dies = (pod: object) => ({ ...pod, metadata: { ...nameOf('web'), ...dying } });

  test('comes after the end was written, at once', async () => {
    const { writer, asked, onApi, put, running, clock } = writerWorld(['web']);
    put('web', dies);
    await running(async () => {
      writer.set(nameOf('web'), status('Running', 'True'));
      await clock.advance(10);
      writer.confirmDeletion(nameOf('web'));
      await clock.advance(10);
      assert.deepEqual(asked, ['patch web']);
      writer.set(nameOf('web'), status('Succeeded'));
      await clock.advance(10);
    });
    assert.deepEqual(asked, ['patch web', 'patch web', 'delete web']);
    assert.equal(onApi.has('web'), false);
  });

  test('does not come for a pod that nobody deletes', async () => {
    const { writer, asked, put, running, clock } = writerWorld(['web']);
    await running(async () => {
      writer.set(nameOf('web'), status('Succeeded'));
      writer.confirmDeletion(nameOf('web'));
      await clock.advance(120_000);
      assert.deepEqual(asked, ['patch web']);
      put('web', (pod) => ({ ...dies(pod) }));
      await clock.advance(10);
    });
    assert.deepEqual(asked, ['patch web', 'delete web']);
  });

  test('comes without a status when the API has the end already', async () => {
    const { writer, asked, put, running, clock } = writerWorld(['web']);
    put('web', (pod) => ({ ...dies(pod), status: { phase: 'Failed' } }));
    await running(async () => {
      writer.confirmDeletion(nameOf('web'));
      await clock.advance(10);
    });
    assert.deepEqual(asked, ['delete web']);
  });

  test('comes once where finalizers hold the pod', async () => {
    const { writer, asked, put, running, clock } = writerWorld(['web']);
    const held = { ...nameOf('web'), ...dying, deletionGracePeriodSeconds: 0 };
    put('web', (pod) => ({ ...pod, metadata: held, status: { phase: 'Failed' } }));
    await running(async () => {
      writer.confirmDeletion(nameOf('web'));
      await clock.advance(120_000);
    });
    assert.deepEqual(asked, []);
  });

  test('is tried again when it fails', async () => {
    const { writer, onApi, put, state, running, clock } = writerWorld(['web']);
    put('web', (pod) => ({ ...dies(pod), status: { phase: 'Failed' } }));
    state.before = async () => {
      state.before = async () => undefined;
      throw broken();
    };
    await running(async () => {
      writer.confirmDeletion(nameOf('web'));
      await clock.advance(1000);
    });
    assert.equal(onApi.has('web'), false);
  });
});

test('the writes are counted by what became of them', async () => {
  const { writer, registry, running, clock } = writerWorld(['web']);
  await running(async () => {
    writer.set(nameOf('web'), status('Running'));
    await clock.advance(10);
  });
  const text = await registry.metrics();
  assert.match(text, /nodeward_pod_status_writes_total\{result="written"\} 1/);
  assert.match(text, /nodeward_pod_status_write_seconds_count 1/);
});
