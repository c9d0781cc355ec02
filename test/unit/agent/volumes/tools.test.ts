import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemTools } from '../../../../src/agent/volumes/tools.ts';
import { DeadlineError, systemClock } from '../../../../src/base/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

describe('programs of the system', () => {
  test('say how they ended and what they said, within bounds', async () => {
    const tools = systemTools(systemClock);
    const { code, output, errors } = await tools.run(
      'sh',
      ['-c', 'echo "$1"; echo no >&2; exit 3', 'sh', 'a b'],
      30_000,
    );
    assert.deepEqual({ code, output, errors }, { code: 3, output: 'a b\n', errors: 'no\n' });
    const long = await tools.run('sh', ['-c', 'head -c 1000000 /dev/zero'], 30_000);
    assert.equal(long.output.length, 4096);
    await assert.rejects(tools.run('no-such-program', [], 30_000), /cannot run no-such-program: /);
  });

  test('that hang are killed, and so are not waited for', async () => {
    const clock = createManualClock();
    const running = systemTools(clock).run('sleep', ['600'], 10_000);
    const outcome = assert.rejects(running, (error: unknown) => {
      assert.ok(error instanceof DeadlineError);
      assert.equal(error.message, 'sleep did not answer within 10 s');
      return true;
    });
    await clock.advance(10_001);
    await outcome;
  });

  test('run a bounded number at a time; those that hang keep out others only until their deadline', async () => {
    const clock = createManualClock();
    const tools = systemTools(clock);
    const hanging = Array.from({ length: 16 }, () =>
      tools.run('sleep', ['600'], 10_000).catch((error) => error),
    );
    let isDone = false;
    const next = tools.run('true', [], 10_000).then(() => {
      isDone = true;
    });
    await clock.advance(9999);
    assert.equal(isDone, false);
    await clock.advance(2);
    await next;
    for (const each of hanging) assert.ok((await each) instanceof DeadlineError);
  });
});
