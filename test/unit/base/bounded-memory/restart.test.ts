import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import {
  boundedMemoryEnvironment,
  boundedMemoryFlags,
  smallMemoryEnvironment,
  smallMemoryFlags,
  toControlPlaneEnvironment,
} from '../../../../src/base/bounded-memory/index.ts';

const program = join(import.meta.dirname, 'told-start.ts');

interface Told {
  pid: number;
  execArgv: string[];
  args: string[];
  arenas: string | undefined;
}

/** Starts the program with flags for Node.js; what it told, and whether it has the process that was started. */
async function started(
  flags: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Told & { same: boolean }> {
  const child = spawn(process.execPath, [...flags, program, 'serve', '--port=0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], ...env },
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const told: Told = JSON.parse(output);
  return { ...told, same: told.pid === child.pid };
}

test('the unit starts the agent with the flags that it would restart with', async () => {
  const unit = await readFile(join(import.meta.dirname, '../../../../systemd/nodeward.service'), 'utf8');
  const line = unit.split('\n').find((each) => each.startsWith('ExecStart='));
  assert.ok(line?.includes(` ${smallMemoryFlags.join(' ')} /usr/lib/nodeward/dist/main.js agent `), line);
  for (const [name, value] of Object.entries(smallMemoryEnvironment)) {
    assert.match(unit, new RegExp(`^Environment=.*\\b${name}=${value}\\b`, 'm'));
  }
});

test('a control plane does not inherit how its agent saves memory at the cost of speed', () => {
  assert.deepEqual(toControlPlaneEnvironment({ ...smallMemoryEnvironment, HOME: '/root' }), {
    ...boundedMemoryEnvironment,
    HOME: '/root',
  });
});

describe('a process whose memory is to be bounded', () => {
  test('begins anew with the flags, as the same process and with its own arguments', async () => {
    const told = await started(['--no-warnings']);
    assert.deepEqual(told.execArgv, [...boundedMemoryFlags, '--no-warnings']);
    assert.deepEqual(told.args, ['serve', '--port=0']);
    assert.equal(told.arenas, '1');
    assert.ok(told.same);
  });

  test('goes on when it has them', async () => {
    const told = await started(boundedMemoryFlags);
    assert.deepEqual(told.execArgv, boundedMemoryFlags);
    assert.equal(told.arenas, undefined, 'it did not begin anew');
  });

  test('goes on when systemd has passed it descriptors, which it would lose', async () => {
    assert.deepEqual((await started([], { LISTEN_FDS: '1' })).execArgv, []);
  });

  test('leaves to whoever started it what they have chosen', async () => {
    const flag = '--max_semi_space_size=32';
    assert.deepEqual((await started([flag])).execArgv, [flag]);
    assert.deepEqual((await started([], { NODE_OPTIONS: '--max-semi-space-size=32' })).execArgv, []);
    assert.equal((await started([], { MALLOC_ARENA_MAX: '4' })).arenas, '4');
  });
});
