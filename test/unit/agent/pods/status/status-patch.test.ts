import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createStatusPatch } from '../../../../../src/agent/pods/status/status-patch.ts';
import type { PodStatus } from '../../../../../src/agent/pods/status/types.ts';

const ready = { type: 'Ready', status: 'False', lastTransitionTime: '2026-11-23T10:00:00Z' } as const;
const container = { name: 'main', image: 'a', imageID: '', ready: false, restartCount: 0 };
const known: PodStatus = {
  phase: 'Pending',
  startTime: '2026-11-23T10:00:00Z',
  conditions: [ready],
  containerStatuses: [{ ...container, state: { waiting: { reason: 'ContainerCreating' } } }],
};

const { startTime: _start, ...withoutStart } = known;

describe('what must be written of a status', () => {
  const same: Record<string, PodStatus> = {
    'the same': structuredClone(known),
    'what is empty, which a server leaves out': {
      ...known,
      message: '',
      podIPs: [],
      containerStatuses: [
        { ...container, state: { waiting: { reason: 'ContainerCreating', message: '' } }, lastState: {} },
      ],
    },
    'parts of a second': { ...known, startTime: '2026-11-23T10:00:00.500Z' },
    'another time of a transition': {
      ...known,
      conditions: [{ ...ready, lastTransitionTime: '2026-11-23T10:01:00Z' }],
    },
  };
  for (const [what, wanted] of Object.entries(same))
    test(`${what}: nothing`, () => {
      assert.equal(createStatusPatch(known, wanted), undefined);
      assert.equal(createStatusPatch(wanted, known), undefined, 'nor the other way round');
    });

  const changed: Record<string, [wanted: PodStatus, patch: Record<string, unknown>]> = {
    'another second': [
      { ...known, startTime: '2026-11-23T10:00:01Z' },
      { startTime: '2026-11-23T10:00:01Z' },
    ],
    'what is there no more': [withoutStart, { startTime: null }],
    'a member that is new, deep inside': [
      {
        ...known,
        containerStatuses: [
          { ...container, state: { waiting: { reason: 'ContainerCreating', message: 'why' } } },
        ],
      },
      {
        containerStatuses: [
          { ...container, state: { waiting: { reason: 'ContainerCreating', message: 'why' } } },
        ],
      },
    ],
    'one container fewer': [{ ...known, containerStatuses: [] }, { containerStatuses: [] }],
    'a reason of a condition': [
      { ...known, conditions: [{ ...ready, reason: 'ContainersNotReady' }] },
      { conditions: [{ ...ready, reason: 'ContainersNotReady', message: null }] },
    ],
    addresses: [
      { ...known, podIPs: [{ ip: '10.0.0.1' }] },
      { podIPs: [{ ip: '10.0.0.1' }, { $patch: 'replace' }] },
    ],
  };
  for (const [what, [wanted, patch]] of Object.entries(changed))
    test(`${what}: that`, () => assert.deepEqual(createStatusPatch(known, wanted), patch));

  test('the first container: that', () => {
    const { containerStatuses } = known;
    const before = { ...known, containerStatuses: [] };
    assert.deepEqual(createStatusPatch(before, known), { containerStatuses });
  });
});
