import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { checkReservedGroups, ReservedLimits } from '../../../../src/agent/assembly/reserved-groups.ts';
import { createReservedGroupsCheck } from '../../../../src/agent/doctor/checks/reserved-groups.ts';
import type { ReservedGroup } from '../../../../src/agent/resources/index.ts';
import { openCgroupTree } from '../../../../src/agent/resources/index.ts';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';

import { makeMachine } from '../doctor/machine.ts';
import { memoryLog } from '../pods/support.ts';
import { fakeTree } from '../resources/fake-tree.ts';

const groupOf = (cgroup: string, cpuMillis: number): ReservedGroup => ({
  ...{ side: 'system', isCompressible: true, cgroup, cpuMillis },
});

describe('the cgroups of what is reserved', () => {
  test('must be there for the agent to start, and doctor says so before', async () => {
    await using folder = await fakeTree(1, ['system.slice']);
    await using machine = await makeMachine({});
    const judge = async (groups: readonly ReservedGroup[]) => {
      const check = createReservedGroupsCheck({ enforcement: { pods: true, groups } }, folder.path);
      const { verdict, found } = await machine.run([check], 'reserved-cgroups');
      return [verdict, found];
    };
    const [there, away] = [groupOf('/system.slice', 500), groupOf('/away', 500)];
    checkReservedGroups([there], folder.path);
    checkReservedGroups([], '/nowhere');
    assert.throws(
      () => checkReservedGroups([there, away], folder.path),
      (error) =>
        error instanceof ExitError &&
        error.exitCode === exitCodes.configuration &&
        /^Failed to enforce System Reserved Compressible Cgroup Limits on "\/away": .*, or change enforceNodeAllocatable$/.test(
          error.message,
        ),
    );
    assert.throws(() => checkReservedGroups([there], '/nowhere'), ExitError);
    assert.deepEqual(await judge([there]), ['ok', '/system.slice']);
    assert.equal((await judge([]))[0], 'not-applicable');
    const [verdict = '', found = ''] = await judge([there, away]);
    assert.equal(verdict, 'failed');
    assert.match(found, /^the agent does not start: .* on "\/away"/);
  });

  test('are written again each time; a change of the result is an Event and a line of the log, once', async () => {
    await using folder = await fakeTree(1, ['late']);
    const tree = openCgroupTree(folder.path);
    const { log, lines } = memoryLog();
    const events: string[] = [];
    let group = groupOf('/later', 500);
    const limits = new ReservedLimits({
      groups: () => [group],
      nodeEvent: ({ type, reason, message }) => void events.push(`${type} ${reason} ${message}`),
      log,
    });
    const told: string[] = [];
    const slices = { apply: async (name: string) => void told.push(name), stop: async () => undefined };
    const keep = () => limits.keep({ tree, driver: 'cgroupfs', slices });
    await keep();
    await keep();
    assert.equal(events.length, 1);
    assert.match(
      events.pop() ?? '',
      /^Warning FailedNodeAllocatableEnforcement Failed to enforce System .*"\/later"/,
    );
    group = groupOf('/late', 500);
    await keep();
    await keep();
    assert.deepEqual(events.splice(0), [
      'Normal NodeAllocatableEnforced Updated limits on system reserved cgroup /late',
    ]);
    group = groupOf('/late', 1000);
    await keep();
    assert.equal(events.length, 1);
    assert.equal(await readFile(join(folder.path, 'cpu/late/cpu.shares'), 'utf8'), '1024');
    assert.deepEqual(told, []);
    assert.equal(lines.length, 3);
  });
});
