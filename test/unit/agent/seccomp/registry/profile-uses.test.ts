import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findProfileUses } from '../../../../../src/agent/seccomp/registry/profile-uses.ts';
import type { Pod } from '../../../../../src/api/index.ts';

const naming = (name: string, localhostProfile: string) => ({
  name,
  securityContext: { seccompProfile: { type: 'Localhost', localhostProfile } },
});

test('a pod with thousands of containers is gone through a few times, not once for each of them', () => {
  const containers = Array.from({ length: 2000 }, (_, at) => naming(`c${at}`, `p${at}.json`));
  let reads = 0;
  const spec = {
    get containers() {
      reads += 1;
      return containers;
    },
  };
  const pod: Pod = { metadata: { name: 'web', namespace: 'default', uid: 'u' }, spec };
  const uses = findProfileUses([pod]);
  assert.equal(uses.size, 2000);
  assert.equal(uses.get('p7.json')?.[0]?.fieldPath, 'spec.containers{c7}');
  assert.ok(reads < 10, `${reads} times`);
});

test('a privileged container uses none, whatever it names; two containers are told without a place', () => {
  const privileged = { name: 'root', securityContext: { privileged: true } };
  const pod: Pod = {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: './team//web.json' } },
      containers: [{ name: 'app' }, privileged],
      initContainers: [{ name: 'first' }, naming('out', '../web.json')],
    },
    status: {
      containerStatuses: [
        { name: 'app', image: 'a', imageID: '', ready: true, restartCount: 0, state: { running: {} } },
      ],
    },
  };
  assert.deepEqual(
    [...findProfileUses([pod])],
    [
      [
        'team/web.json',
        [
          {
            namespace: 'default',
            pod: 'web',
            uid: 'default/web',
            containers: ['first', 'app'],
            running: ['app'],
          },
        ],
      ],
    ],
  );
});
