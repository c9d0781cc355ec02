import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const source = new URL('../../../src/', import.meta.url).href;

/**
 * In a process of its own that may have few descriptors: starts every kind of program that the agent starts when it has none
 * left, prints what came of each, and then what would have ended the agent.
 */
const program = `
  import { closeSync, openSync } from 'node:fs';
  const crashes = [];
  process.on('uncaughtException', (error) => crashes.push(String(error)));
  const from = (path) => import(${JSON.stringify(source)} + path);
  const { systemClock: clock } = await from('base/index.ts');
  const { Inhibitor } = await from('agent/shutdown/index.ts');
  const { systemTools } = await from('agent/volumes/tools.ts');
  const { startProgram } = await from('agent/volumes/child-program.ts');
  const { unmount } = await from('agent/pods/housekeeping/mount-points.ts');
  const { runProgram } = await from('agent/images/credentials/providers/run.ts');
  const { inspectPathInChild } = await from('agent/doctor/inspect-path.ts');
  const { createLocalHost } = await from('agent/doctor/host.ts');
  const { Child } = await from('agent/identity/control-plane/child.ts');
  const { signal } = new AbortController();
  const times = { pingMs: 1000, silenceMs: 5000, stopMs: 1000, signMs: 1000 };
  const inhibitorTold = (inhibitor) => new Promise((resolve) => {
    const lock = new Inhibitor({ program: '/bin/true', env: {}, clock, onChange: async (state) => {
      await lock.release();
      resolve(state.reason);
    } });
    lock.acquire();
  });
  const starts = {
    inhibitor: inhibitorTold,
    tool: () => systemTools(clock).run('/bin/true', [], 5000),
    program: () => startProgram('', [], signal),
    unmount: () => unmount('/nowhere', clock, signal),
    provider: () => runProgram({ program: '/bin/true', args: [], env: {}, input: '', signal }),
    path: () => inspectPathInChild({ path: '/' }, signal),
    doctor: () => createLocalHost({ env: {} }).exec('/bin/true', [], signal),
    controlPlane: () => new Child({ script: '/nowhere', args: [], clock, ...times, onReady() {} }).ended,
  };
  const taken = [];
  try { for (;;) taken.push(openSync('/dev/null')); } catch {}
  const told = {};
  for (const [name, start] of Object.entries(starts))
    told[name] = await (async () => start())().then((value) => value?.message ?? value, (error) => error.message);
  await new Promise(setImmediate);
  for (const descriptor of taken) closeSync(descriptor);
  process.stdout.write(JSON.stringify({ told, crashes }), () => process.exit());
`;

describe('without free descriptors', () => {
  test('no program is started, each start says why, and the agent goes on', { timeout: 60_000 }, async () => {
    const argv = ['--input-type=module', '-e', program];
    const { stdout } = await run('/bin/sh', [
      '-c',
      'ulimit -n 256; exec "$@"',
      'sh',
      process.execPath,
      ...argv,
    ]);
    const { told, crashes }: { told: Record<string, string>; crashes: string[] } = JSON.parse(stdout);
    assert.deepEqual(crashes, []);
    const failed = 'spawn /bin/true EMFILE';
    const node = `spawn ${process.execPath} EMFILE`;
    assert.deepEqual(told, {
      inhibitor: `/bin/true cannot be started: ${failed}`,
      tool: `cannot run /bin/true: ${failed}`,
      program: node,
      unmount: 'umount cannot be run: spawn umount EMFILE',
      provider: failed,
      path: node,
      doctor: failed,
      controlPlane: `it could not be started: ${node}`,
    });
  });
});
