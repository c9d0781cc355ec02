/** What an agent answers in the tests of what commands print. */
const id = 'checkpoint-web_shop-main-2026-01-02T03:04:05.000000000Z';
const record = {
  id,
  namespace: 'shop',
  pod: 'web',
  container: 'main',
  node: 'node-a',
  image: 'shop/web:1',
  startedAt: '2026-01-02T03:04:05Z',
  pausedMs: 12,
};
const stored = { id, path: `/c/${id}.tar`, bytes: 3, state: 'Verified', pinned: false, record };
const damaged = { ...stored, id: id.replace('web', 'db'), state: 'Damaged' };
const verdict = { apiVersion: 'v1', kind: 'Verification', id, result: 'matches' };
const plugin = { state: 'away', way: 'registration', socket: '/run/p.sock', lastError: 'refused' };
const device = { id: 'd0', healthy: true, numaNodes: [0] };
const pod = {
  ...{ namespace: 'shop', name: 'web', uid: 'u1', origin: 'api', phase: 'Pending', stage: 'starting' },
  waitsFor: { reason: 'FailedMount', message: 'secret "db" not found', since: '2026-01-02T03:04:05Z' },
  containers: [{ name: 'main', type: 'regular', state: 'waiting', restarts: 0, image: 'shop/web:1' }],
};
const outcome = {
  kind: 'RetentionOutcome',
  dryRun: false,
  items: [{ id, bytes: 3, scope: 'node', limit: 'maxCount' }],
};

export const exampleId = id;

/** By method and path without query. */
export const exampleAnswers: Readonly<Record<string, unknown>> = {
  'GET /checkpoints': { kind: 'CheckpointList', metadata: {}, items: [stored, damaged] },
  [`GET /checkpoints/${id}`]: stored,
  [`DELETE /checkpoints/${id}`]: stored,
  [`PUT /checkpoints/${id}/pin`]: { ...stored, pinned: true },
  [`DELETE /checkpoints/${id}/pin`]: stored,
  [`POST /checkpoints/${id}/verify`]: verdict,
  [`GET /checkpoints/${id}/archive`]: 'tar',
  'POST /checkpoints/prune': outcome,
  'POST /checkpoint/shop/web/main': { items: [stored.path] },
  'GET /plugins': {
    folder: '/p',
    items: [
      { path: '/p/a.sock', type: 'CSIPlugin', name: 'a', state: 'failed', attempts: 2, endpoint: '/p/b' },
    ],
  },
  'GET /devices': { items: [{ resource: 'a/b', capacity: 1, allocatable: 1, plugin, devices: [device] }] },
  'GET /stats/summary': {
    node: { nodeName: 'node-a' },
    pods: [{ podRef: { namespace: 'shop', name: 'web', uid: 'u1' } }],
  },
  'GET /stats/limits': { allocatable: { cpu: '2' }, thresholds: [], pressures: [] },
  'GET /pods/explain': { items: [pod] },
  'GET /pods/explain/shop/web': {
    ...pod,
    timeline: [{ time: '2026-01-02T03:04:05Z', what: 'admitted', count: 1 }],
  },
  'GET /seccomp': {
    folder: '/s',
    profiles: [{ name: 'a.json', valid: false, size: 2, digest: `sha256:${'0'.repeat(64)}` }],
  },
};
