import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryLimitOf } from '../../../../src/agent/volumes/kinds/memory-limit.ts';
import { hasNoSwapOption } from '../../../../src/agent/volumes/kinds/pod-folder.ts';
import type { ToolResult } from '../../../../src/agent/volumes/tools.ts';
import { DeadlineError } from '../../../../src/base/index.ts';
import type { Volume } from './support.ts';
import { podWith, stateOf, volumesWith } from './support.ts';

const failed = (message: string, untilMs?: number) => ({
  state: 'waiting',
  reason: 'FailedMount',
  message: `MountVolume.SetUp failed for volume "v" : ${message}`,
  untilMs,
});

/** What `stat` prints, by the bits of the type. */
const modes = {
  folder: '41ed',
  file: '81a4',
  socket: 'c1ed',
  characters: '2190',
  blocks: '6190',
  fifo: '1180',
};
const missing = { code: 1, errors: "stat: cannot statx '/x': No such file or directory\n" };

describe('a path of the node', () => {
  const hostPath = (type: string, path = '/x'): Volume => ({ name: 'v', hostPath: { path, type } });
  const notA = (what: string) => `hostPath type check failed: /x is not a ${what}`;
  const cases: [type: string, there: keyof typeof modes | undefined, message: string | undefined][] = [
    ['Directory', 'folder', undefined],
    ['Directory', 'file', notA('directory')],
    ['Directory', undefined, notA('directory')],
    ['DirectoryOrCreate', 'folder', undefined],
    ['DirectoryOrCreate', 'file', notA('directory')],
    ['File', 'file', undefined],
    ['File', 'folder', notA('file')],
    ['File', undefined, notA('file')],
    ['FileOrCreate', 'file', undefined],
    ['FileOrCreate', 'fifo', notA('file')],
    ['Socket', 'socket', undefined],
    ['Socket', 'file', notA('socket file')],
    ['Socket', undefined, notA('socket file')],
    ['CharDevice', 'characters', undefined],
    ['CharDevice', 'blocks', notA('character device')],
    ['BlockDevice', 'blocks', undefined],
    ['BlockDevice', 'characters', notA('block device')],
  ];
  for (const [type, there, message] of cases)
    test(`${type}, where there is ${there ?? 'nothing'}`, async () => {
      await using made = await volumesWith(async () =>
        there === undefined ? missing : { output: modes[there] },
      );
      const state = await stateOf(made.volumes, podWith([hostPath(type)]));
      if (message === undefined) assert.deepEqual(state, { state: 'ready' });
      else assert.deepEqual(state, failed(message, made.clock.now() + 500));
    });

  test('without a type is not looked at', async () => {
    await using made = await volumesWith();
    assert.deepEqual(await stateOf(made.volumes, podWith([hostPath('')])), { state: 'ready' });
    assert.deepEqual(made.calls, []);
    assert.deepEqual(await made.volumes.mountsOf(podWith([hostPath('')]), 'main'), [
      {
        containerPath: '/v',
        hostPath: '/x',
        isReadOnly: false,
        isRecursiveReadOnly: false,
        propagation: 'None',
      },
    ]);
  });

  test('that goes upwards, or of a type that is not known, is refused for good', async () => {
    await using made = await volumesWith();
    assert.deepEqual(
      await stateOf(made.volumes, podWith([hostPath('', '/a/../b')])),
      failed("invalid HostPath `/a/../b`: must not contain '..'"),
    );
    await using other = await volumesWith();
    assert.deepEqual(
      await stateOf(other.volumes, podWith([hostPath('Fifo')])),
      failed('Fifo is an invalid volume type'),
    );
  });

  test('that hangs holds up nobody, and is said', async () => {
    await using made = await volumesWith(async () => {
      throw new DeadlineError('stat did not answer');
    });
    const state = await stateOf(made.volumes, podWith([hostPath('Directory')]));
    assert.deepEqual(state, failed('hostPath /x does not answer within 10 s', made.clock.now() + 500));
  });

  test('is tried again after longer and longer waits, until it is there', async () => {
    let isThere = false;
    await using made = await volumesWith(async () => (isThere ? { output: modes.folder } : missing));
    const pod = podWith([hostPath('Directory')]);
    const heard: string[] = [];
    using _listening = made.volumes.onChange((uid) => heard.push(uid));
    await stateOf(made.volumes, pod);
    for (const waitMs of [500, 1000, 2000]) {
      const state = made.volumes.want(pod);
      assert.equal(state.state === 'waiting' && state.untilMs, made.clock.now() + waitMs);
      const before = heard.length;
      await made.clock.advanceUntil(() => heard.length > before, waitMs + 1);
    }
    isThere = true;
    await made.clock.advanceUntil(() => made.volumes.want(pod).state === 'ready', 4001);
    assert.deepEqual(new Set(heard), new Set(['u1']));
  });
});

describe('a kind that is not mounted yet', () => {
  const sources: Omit<Volume, 'name'>[] = [
    { nfs: { server: 's', path: '/' } },
    { iscsi: { targetPortal: 't', iqn: 'i', lun: 0 } },
  ];
  for (const source of sources) {
    const [kind = ''] = Object.keys(source);
    test(`${kind} says so, and is not tried again`, async () => {
      await using made = await volumesWith();
      const state = await stateOf(made.volumes, podWith([{ name: 'v', ...source }]));
      assert.deepEqual(state, failed(`this agent does not mount volumes of the kind ${kind} yet`));
      await assert.rejects(made.volumes.mountsOf(podWith([{ name: 'v', ...source }]), 'main'), {
        message: 'the volumes of the pod are not set up yet',
      });
    });
  }

  test('each volume that fails is named', async () => {
    await using made = await volumesWith(async () => missing);
    const state = await stateOf(
      made.volumes,
      podWith([
        { name: 'a', nfs: { server: 's', path: '/' } },
        { name: 'b', hostPath: { path: '/x', type: 'File' } },
      ]),
    );
    assert.match(
      state.state === 'waiting' ? state.message : '',
      /^MountVolume\.SetUp failed for volume "a" : .*; MountVolume\.SetUp failed for volume "b" : hostPath type/,
    );
  });

  test('each has its own Event, at each try', async () => {
    const events: string[] = [];
    let there: Partial<ToolResult> = missing;
    await using made = await volumesWith(async () => there, {
      report: (_pod, { type, reason, message }) => events.push(`${type} ${reason}: ${message}`),
    });
    const file = (name: string) => ({ name, hostPath: { path: '/x', type: 'File' } });
    const pod = podWith([file('a'), file('b')]);
    const failed = (volume: string, why = 'hostPath type check failed: /x is not a file') =>
      `Warning FailedMount: MountVolume.SetUp failed for volume "${volume}" : ${why}`;
    await stateOf(made.volumes, pod);
    assert.deepEqual(events.splice(0).sort(), [failed('a'), failed('b')]);
    await made.clock.advanceUntil(() => events.length >= 2, 45_000);
    assert.deepEqual(events.splice(0).sort(), [failed('a'), failed('b')]);
    there = { code: 1, errors: 'stat: Permission denied\n' };
    await made.clock.advanceUntil(() => events.length >= 2, 61_000);
    const denied = 'hostPath /x cannot be looked at: stat: Permission denied';
    assert.deepEqual(events.splice(0).sort(), [failed('a', denied), failed('b', denied)]);
  });
});

describe('an empty folder in memory', () => {
  test('is kept out of swap by Linux 6.4 and later', () => {
    const releases = {
      '6.3.9': false,
      '6.4.0-rc1': true,
      '6.18.1-cloud': true,
      '7.0': true,
      '5.15.0': false,
      '': false,
    };
    for (const [release, expected] of Object.entries(releases))
      assert.equal(hasNoSwapOption(release), expected, release);
  });

  test('is limited by the memory of the pod where all of its containers are', () => {
    const limited = (memory: string, restartPolicy?: string) => ({
      name: 'c',
      image: 'i',
      resources: { limits: { memory } },
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
    });
    const limitOf = (spec: object) => memoryLimitOf({ spec: { containers: [], ...spec } });
    const mib = 2n ** 20n;
    assert.equal(limitOf({ containers: [limited('1Mi'), limited('2Mi')] }), 3n * mib);
    assert.equal(limitOf({ containers: [limited('1Mi'), { name: 'd', image: 'i' }] }), undefined);
    assert.equal(limitOf({ containers: [limited('1Mi')], initContainers: [limited('5Mi')] }), 5n * mib);
    assert.equal(
      limitOf({ containers: [limited('1Mi')], initContainers: [limited('2Mi', 'Always')] }),
      3n * mib,
    );
    assert.equal(limitOf({ containers: [limited('1Mi')], overhead: { memory: '1Mi' } }), 2n * mib);
    assert.equal(
      limitOf({ containers: [limited('1Mi')], resources: { limits: { memory: '9Mi' } } }),
      9n * mib,
    );
    assert.equal(limitOf({}), undefined);
  });
});
