import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodPartIds, PodView } from '../../../../../src/agent/pods/view/types.ts';
import type { Effect } from '../../../../../src/agent/pods/worker/unseen.ts';
import { UnseenActions } from '../../../../../src/agent/pods/worker/unseen.ts';
import { running as container, sandbox } from '../plan/support.ts';

const containerId = { id: 'c', podSandboxId: 's' };
const sandboxId = { id: 's' };
const running = podOf({ state: 'running' });
const ended = podOf({ state: 'exited' });

function podOf(changes: Partial<PodView['containers'][number]>, isReady = true): PodView {
  const containers = [container('main', 0, { id: 'c', sandboxId: 's', ...changes })];
  return { ...withSandbox({ isReady }), containers };
}

function withSandbox(changes: Partial<PodView['sandboxes'][number]> = {}): PodView {
  const sandboxes = [sandbox(0, { id: 's', ...changes })];
  return { uid: 'a', namespace: 'default', name: 'a', sandboxes, containers: [] };
}

/** What is read after the first look, for actions of which the view tells this; undefined: everything. */
async function readsAfter(view: PodView | undefined, ...actions: (readonly Effect[] | undefined)[]) {
  const unseen = new UnseenActions();
  unseen.skip();
  for (const effects of actions) unseen.add(effects);
  const reads: (PodPartIds | undefined)[] = [];
  await unseen.look(view, async (parts) => void reads.push(parts));
  assert.ok(unseen.isNone);
  return reads;
}

const of = (is: Effect['is'], id?: string): Effect[] => [
  { sandboxId: 's', is, ...(id === undefined ? {} : { containerId: id }) },
];

describe('after an action that succeeded', () => {
  const seen: readonly [string, PodView | undefined, Effect[]][] = [
    ['a sandbox that is ready', withSandbox(), of('running')],
    ['a sandbox that is stopped, with all in it', podOf({ state: 'exited' }, false), of('ended')],
    ['a sandbox that is gone', undefined, of('gone')],
    ['a container that runs', running, of('running', 'c')],
    ['a container that has ended at once', ended, of('running', 'c')],
    ['a container that has ended', ended, of('ended', 'c')],
    ['a container that is gone', withSandbox(), of('gone', 'c')],
  ];
  for (const [what, view, effects] of seen)
    test(`nothing is read where events have told of it: ${what}`, async () => {
      assert.deepEqual(await readsAfter(view, effects), []);
    });

  const unseen: readonly [string, PodView | undefined, Effect[], PodPartIds][] = [
    ['a sandbox', undefined, of('running'), { sandboxes: [sandboxId], containers: [] }],
    [
      'the address of a sandbox',
      withSandbox({ ips: [] }),
      of('running'),
      { sandboxes: [sandboxId], containers: [] },
    ],
    ['a container', withSandbox(), of('running', 'c'), { sandboxes: [], containers: [containerId] }],
    [
      'the start of a container',
      podOf({ state: 'created' }),
      of('running', 'c'),
      { sandboxes: [], containers: [containerId] },
    ],
    ['the end of a container', running, of('ended', 'c'), { sandboxes: [], containers: [containerId] }],
    [
      'the end of all in a sandbox',
      running,
      of('ended'),
      { sandboxes: [sandboxId], containers: [containerId] },
    ],
    ['the end of a sandbox', ended, of('ended'), { sandboxes: [sandboxId], containers: [containerId] }],
    ['that a container is gone', ended, of('gone', 'c'), { sandboxes: [], containers: [containerId] }],
    ['that a sandbox is gone', ended, of('gone'), { sandboxes: [sandboxId], containers: [containerId] }],
  ];
  for (const [what, view, effects, parts] of unseen)
    test(`what no event has told of is read, and nothing else: ${what}`, async () => {
      assert.deepEqual(await readsAfter(view, effects), [parts]);
    });
});

describe('everything is read', () => {
  test('after an action that failed, also beside one that succeeded', async () => {
    assert.deepEqual(await readsAfter(running, of('running', 'c'), undefined), [undefined]);
  });

  test('at the first look, and again until that succeeds', async () => {
    const unseen = new UnseenActions();
    assert.ok(unseen.isFirst);
    await assert.rejects(
      unseen.look(undefined, () => Promise.reject(new Error('hangs'))),
      /hangs/,
    );
    assert.equal(unseen.isNone, false);
    let reads = 0;
    const read = async (parts?: PodPartIds) => {
      assert.equal(parts, undefined);
      reads += 1;
    };
    await unseen.look(undefined, read);
    await unseen.look(undefined, read);
    assert.equal(reads, 1);
  });

  test('that ended during a look is looked at again', async () => {
    const unseen = new UnseenActions();
    await unseen.look(undefined, async () => unseen.add(undefined));
    assert.equal(unseen.isNone, false);
  });
});
