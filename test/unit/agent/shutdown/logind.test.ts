import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { followLogind } from '../../../../src/agent/shutdown/index.ts';
import type { FakeBus } from '../../../support/fake-bus.ts';
import { fakeBus } from '../../../support/fake-bus.ts';
import { fastClock } from '../../../support/fast-clock.ts';
import { waitFor } from '../../../support/index.ts';

interface Following extends AsyncDisposable {
  readonly told: string[];
}

/** What a follower of the bus is told, in words. */
function follow(busPath: string): Following {
  const told: string[] = [];
  const end = new AbortController();
  const done = followLogind(
    { busPath, user: 0, clock: fastClock(2) },
    {
      found: (_, { isShuttingDown, maxDelayMs }) => void told.push(`found ${isShuttingDown} ${maxDelayMs}`),
      prepares: (isShuttingDown) => void told.push(`prepares ${isShuttingDown}`),
      lost: (reason) => void told.push(`lost: ${reason}`),
    },
    end.signal,
  );
  return {
    told,
    async [Symbol.asyncDispose]() {
      end.abort();
      await done;
    },
  };
}

async function expectTold({ told }: Following, expected: readonly (string | RegExp)[]): Promise<void> {
  await waitFor(`${expected.length} news`, () => told.length >= expected.length || undefined).catch(
    () => undefined,
  );
  assert.equal(told.length, expected.length, told.join('\n'));
  for (const [index, each] of expected.entries()) {
    const found = told[index] ?? '';
    assert.ok(typeof each === 'string' ? found === each : each.test(found), found);
  }
}

/** Everything sent so far has been read: a later signal is. */
async function flush(bus: FakeBus, following: Following): Promise<void> {
  const before = following.told.length;
  bus.announce(false);
  await waitFor('the signal', () => following.told.length > before || undefined);
}

describe('logind is followed', () => {
  test('it is found as it is, and what it announces is heard', async () => {
    await using bus = await fakeBus();
    await using following = follow(bus.path);
    await expectTold(following, ['found false 5000']);
    bus.announce(true);
    bus.announce(false);
    await expectTold(following, ['found false 5000', 'prepares true', 'prepares false']);
    assert.match(bus.rules.join('\n'), /arg0='org\.freedesktop\.login1'[\s\S]*member='PrepareForShutdown'/);
  });

  test('what another process announces in its name is not believed', async () => {
    await using bus = await fakeBus();
    await using following = follow(bus.path);
    await expectTold(following, ['found false 5000']);
    bus.announce(true, ':1.99');
    await flush(bus, following);
    assert.deepEqual(following.told, ['found false 5000', 'prepares false']);
  });

  test('a shutdown that began before is found', async () => {
    await using bus = await fakeBus();
    bus.logind.isShuttingDown = true;
    await using following = follow(bus.path);
    await expectTold(following, ['found true 5000']);
  });

  test('a restart of logind, whose new process counts then', async () => {
    await using bus = await fakeBus();
    await using following = follow(bus.path);
    await expectTold(following, ['found false 5000']);
    bus.setOwner('');
    bus.logind.maxDelaySeconds = 30;
    bus.setOwner(':1.8');
    await expectTold(following, ['found false 5000', 'lost: logind has ended', 'found false 30000']);
    bus.announce(true, ':1.7');
    bus.announce(true);
    await expectTold(following, [
      ...['found false 5000', 'lost: logind has ended', 'found false 30000'],
      'prepares true',
    ]);
  });

  test('a restart of the bus', async () => {
    await using bus = await fakeBus();
    await using following = follow(bus.path);
    await expectTold(following, ['found false 5000']);
    bus.cut();
    await expectTold(following, ['found false 5000', /^lost: .*D-Bus has ended/, 'found false 5000']);
  });

  test('a machine without logind is told once; one that comes later is found', async () => {
    await using bus = await fakeBus();
    bus.logind.isThere = false;
    await using following = follow(bus.path);
    await expectTold(following, ['lost: there is no logind on this machine']);
    bus.setOwner(':1.9');
    await expectTold(following, ['lost: there is no logind on this machine', 'found false 5000']);
  });

  test('a machine without D-Bus', async () => {
    await using following = follow('/does/not/exist');
    await waitFor('a reason', () => following.told[0]);
    assert.match(following.told[0] ?? '', /^lost: .*ENOENT/);
  });
});
