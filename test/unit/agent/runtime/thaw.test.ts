import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { TaskState } from '../../../../src/agent/runtime/index.ts';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import type { Ending } from '../../../../src/agent/runtime/thaw.ts';
import { proveRunning } from '../../../../src/agent/runtime/thaw.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { hurriedClock } from './hurried-clock.ts';

/** What a look at the task finds, one after the other; the last one stays. */
type Seen = TaskState | 'unavailable';

function workload(script: readonly Seen[], refuseResumes = 0) {
  const clock = hurriedClock();
  const looks = [...script];
  let thawed = false;
  let resumes = 0;
  const options = {
    clock,
    log: silentLogger(),
    timeoutMs: 60_000,
    settleMs: 1500,
    task: async (): Promise<TaskState> => {
      const seen = looks.length > 1 ? looks.shift() : looks[0];
      if (seen === 'unavailable') throw new RuntimeError('unavailable', 'Connection dropped');
      return thawed && seen === 'paused' ? 'running' : (seen ?? 'unknown');
    },
    resume: async (): Promise<void> => {
      resumes += 1;
      if (resumes <= refuseResumes) throw new RuntimeError('failed', 'shim is busy');
      thawed = true;
    },
  };
  return {
    clock,
    resumes: () => resumes,
    prove: (ending: Ending, cancel?: AbortSignal) => proveRunning(options, 'c1', ending, cancel),
  };
}

describe('after a checkpoint that the runtime answered', () => {
  test('one look at a running container is enough', async () => {
    const { prove, clock, resumes } = workload(['running']);
    assert.equal(await prove('answered'), 'running');
    assert.equal(clock.elapsedMs, 0);
    assert.equal(resumes(), 0);
  });

  test('a frozen container is resumed', async () => {
    const { prove, resumes } = workload(['paused']);
    assert.equal(await prove('answered'), 'resumed');
    assert.equal(resumes(), 1);
  });

  test('resuming is tried again when it fails', async () => {
    const { prove, resumes } = workload(['paused'], 2);
    assert.equal(await prove('answered'), 'resumed');
    assert.equal(resumes(), 3);
  });

  test('a container that has ended meanwhile is nothing to worry about', async () => {
    assert.equal(await workload(['gone']).prove('answered'), 'gone');
  });
});

describe('after a checkpoint that was abandoned', () => {
  test('a running container must go on running: its pause may still come', async () => {
    const early = workload(['running', 'running', 'paused']);
    assert.equal(await early.prove('abandoned'), 'resumed');
    const calm = workload(['running']);
    assert.equal(await calm.prove('abandoned'), 'running');
    assert.ok(calm.clock.elapsedMs >= 1500);
  });

  test('a pause that was seen does not come again', async () => {
    const { prove, clock } = workload(['paused', 'running'], 1);
    assert.equal(await prove('abandoned'), 'running');
    assert.ok(clock.elapsedMs < 1500);
  });

  test('a runtime that is away is waited for', async () => {
    const { prove } = workload(['unavailable', 'unavailable', 'unknown', 'unavailable', 'paused']);
    assert.equal(await prove('abandoned'), 'resumed');
  });

  test('but not for ever', async () => {
    const { prove, clock } = workload(['unavailable']);
    await assert.rejects(prove('abandoned'), {
      reason: 'stillFrozen',
      message: 'the container could not be proven to run in time: Connection dropped',
    });
    assert.ok(clock.elapsedMs >= 60_000 && clock.elapsedMs < 61_000);
  });

  test('a container that runs when the time is over is given the time to settle', async () => {
    const { prove, clock } = workload([...Array.from({ length: 118 }, (): Seen => 'unavailable'), 'running']);
    assert.equal(await prove('abandoned'), 'running');
    assert.ok(clock.elapsedMs > 59_000 && clock.elapsedMs < 63_000);
  });

  test('a container that cannot be resumed is told as frozen', async () => {
    const { prove } = workload(['paused'], Number.POSITIVE_INFINITY);
    await assert.rejects(prove('abandoned'), { reason: 'stillFrozen', message: /its task is paused/ });
  });

  test('looks at least once, also when the agent is being stopped', async () => {
    assert.equal(await workload(['gone']).prove('abandoned', AbortSignal.abort()), 'gone');
    await assert.rejects(workload(['running']).prove('abandoned', AbortSignal.abort()), {
      reason: 'stillFrozen',
      message: /given up/,
    });
  });
});

test('whatever is seen on the way: never a frozen container that counts as running', async () => {
  const seen = fc.constantFrom<Seen>('running', 'paused', 'unknown', 'unavailable');
  const endings = fc.constantFrom<Ending>('answered', 'abandoned');
  await fc.assert(
    fc.asyncProperty(
      fc.array(seen, { maxLength: 12 }),
      fc.nat(3),
      endings,
      async (script, refused, ending) => {
        const { prove, resumes } = workload([...script, 'paused'], refused);
        const outcome = await prove(ending);
        // The script ends paused: only who has seen it run for long enough, or resumed it, may go.
        if (outcome === 'resumed') assert.equal(resumes(), refused + 1);
        else assert.ok(script.includes('running'));
      },
    ),
    { numRuns: 200 },
  );
});
