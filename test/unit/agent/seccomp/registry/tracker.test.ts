import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import type { TrackerOptions } from '../../../../../src/agent/seccomp/registry/tracker.ts';
import { ProfileTracker } from '../../../../../src/agent/seccomp/registry/tracker.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const judgement = (bytes: Uint8Array) => ({ digest: `sha256:${bytes.length}`, errors: [], warnings: [] });

/** A tracker over a real folder, by a clock whose wall stands before the times of all files. */
async function tracking(t: TestContext, more: Partial<TrackerOptions> = {}) {
  const { path: folder, [Symbol.asyncDispose]: remove } = await temporaryFolder('tracker-');
  const clock = createManualClock();
  const verdicts: string[] = [];
  const tracker = new ProfileTracker({
    folder,
    judge: judgement,
    limitBytes: 1000,
    clock,
    settleMs: 500,
    patienceMs: 5000,
    isNamed: () => false,
    onVerdict: ({ path, after }) => verdicts.push(`${path} ${after?.kind}`),
    onReadFailure: () => undefined,
    ...more,
  });
  const end = new AbortController();
  const running = tracker.run(end.signal);
  t.after(async () => {
    end.abort();
    await running;
    await remove();
  });
  /** Lets so much time pass as is needed for this, and answers how much that was. */
  async function until(what: string): Promise<number> {
    const startMs = clock.monotonicMs();
    const look = async () => {
      if (verdicts.includes(what)) return true;
      if (clock.sleepers > 0) await clock.advance(50);
      return verdicts.includes(what);
    };
    await waitFor(what, look, { intervalMs: 1 });
    return clock.monotonicMs() - startMs;
  }
  return { clock, folder, tracker, until, verdicts };
}

describe('a file whose times say nothing', () => {
  test('since they lie in the future, is judged when it has been seen to rest for the settling time', async (t) => {
    const { folder, tracker, until } = await tracking(t);
    await writeFile(join(folder, 'a.json'), '{}');
    tracker.mark('a.json');
    const tookMs = await until('a.json valid');
    assert.ok(tookMs >= 500 && tookMs < 2000, `${tookMs}`);
  });

  test('since the clock has jumped ahead, is judged at once, and again when it changes', async (t) => {
    const { clock, folder, tracker, until, verdicts } = await tracking(t);
    await writeFile(join(folder, 'a.json'), '{}');
    clock.setWall(100 * 365 * 86_400_000);
    tracker.mark('a.json');
    await until('a.json valid');
    await writeFile(join(folder, 'a.json'), '{ }');
    verdicts.length = 0;
    tracker.mark('a.json');
    await until('a.json valid');
    const verdict = tracker.get('a.json')?.verdict;
    assert.ok(verdict && 'digest' in verdict);
    assert.equal(verdict.digest, 'sha256:3');
  });

  test('and that ends early waits for its patience and no longer', async (t) => {
    const { folder, tracker, until } = await tracking(t);
    await writeFile(join(folder, 'a.json'), '{');
    tracker.mark('a.json');
    const tookMs = await until('a.json valid'); // this judge takes anything
    assert.ok(tookMs >= 5000 && tookMs < 8000, `${tookMs}`);
  });
});

test('a file that is away for less than the settling time was never gone', async (t) => {
  const { clock, folder, tracker, until, verdicts } = await tracking(t);
  const path = join(folder, 'a.json');
  await writeFile(path, '{}');
  tracker.mark('a.json');
  await until('a.json valid');
  await rm(path);
  tracker.mark('a.json');
  await waitFor('the absence to be seen', () => clock.sleepers > 0);
  await clock.advance(200);
  await writeFile(path, '{}');
  tracker.mark('a.json');
  await waitFor('it to be at rest again', async () => {
    if (clock.sleepers > 0) await clock.advance(100);
    return tracker.get('a.json')?.isSettling === false;
  });
  assert.deepEqual(verdicts, ['a.json valid']);
  await rm(path);
  tracker.mark('a.json');
  await until('a.json undefined');
  assert.equal(tracker.has('a.json'), false);
});

test('a judge that fails on one file is told of that one, and judges the next', async (t) => {
  const judge = (bytes: Uint8Array) => {
    if (bytes.length === 2) throw new Error('out of order');
    return judgement(bytes);
  };
  const { folder, tracker, until } = await tracking(t, { judge });
  await writeFile(join(folder, 'a.json'), '{}');
  await writeFile(join(folder, 'b.json'), '{ }');
  tracker.mark('a.json');
  tracker.mark('b.json');
  await until('b.json valid');
  await until('a.json unreadable');
  const verdict = tracker.get('a.json')?.verdict;
  assert.ok(verdict?.kind === 'unreadable');
  assert.match(verdict.reason, /cannot be judged: out of order/);
});
