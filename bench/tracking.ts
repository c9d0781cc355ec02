/*
 * What it costs to keep metadata.managedFields on an ordinary update: `node bench/tracking.ts`. A body is decoded, the
 * object is changed in a store in memory and shown, all that a PUT does but for HTTP, TLS, authorization and the disk;
 * once as it is, and once with nobody noted and no managedFields in any body. `--profile=lease` does the first of it
 * for ten seconds and nothing else, for `node --cpu-prof`.
 */
import type { ApiObject, Kind } from '../src/api/index.ts';
import { apiVersionOf, decodeObject, namespaceKind, servedKinds } from '../src/api/index.ts';
import { controlPlaneUser } from '../src/apiserver/authn/index.ts';
import { createRegistry } from '../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../src/apiserver/storage/index.ts';
import { systemClock } from '../src/base/index.ts';

const groupSuffix = 'k8s.io';
const context = { user: controlPlaneUser, dryRun: false, manager: 'kubelet' };

/** Ten seconds go by between any two updates, so that every one of them is recorded again. */
let nowMs = Date.parse('2026-01-01T00:00:00Z');
const clock = { ...systemClock, now: () => nowMs };
const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock });
const registry = createRegistry({ storage, clock, groupSuffix, admission: [] });
await registry.of(namespaceKind).create('', { metadata: { name: 'default' } }, context);

function kindCalled(name: string): Kind {
  const kind = servedKinds.find((served) => served.kind === name);
  if (kind === undefined) throw new Error(`${name} is not served`);
  return kind;
}

interface Sample {
  name: string;
  kind: Kind;
  namespace: string;
  object: ApiObject & Record<string, unknown>;
  /** What an update changes, each time another. */
  change(count: number): object;
}

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'c1a2b3c4-0000-4000-8000-0123456789ab' };
const spec = { holderIdentity: 'node-1', leaseDurationSeconds: 40 };
const rule = (name: string) => ({ apiGroups: [''], resources: [name], verbs: ['get', 'list', 'watch'] });
const words = Array.from({ length: 20 }, (_, index): [string, string] => [`key-${index}`, `value ${index}`]);

const samples: Record<string, Sample> = {
  lease: {
    name: 'renew a Lease',
    kind: kindCalled('Lease'),
    namespace: 'default',
    object: { metadata: { name: 'with', ownerReferences: [owner] }, spec },
    change: () => ({ spec: { ...spec, renewTime: new Date(nowMs).toISOString().replace('Z', '000Z') } }),
  },
  clusterrole: {
    name: 'update a ClusterRole',
    kind: kindCalled('ClusterRole'),
    namespace: '',
    object: {
      metadata: { name: 'with', labels: { app: 'web', tier: 'front' } },
      rules: ['pods', 'nodes', 'services', 'configmaps', 'secrets'].map(rule),
    },
    change: (count) => ({ rules: [rule(`r${count % 10}`), ...['nodes', 'services', 'secrets'].map(rule)] }),
  },
  configmap: {
    name: 'update a ConfigMap',
    kind: kindCalled('ConfigMap'),
    namespace: 'default',
    object: { metadata: { name: 'with', labels: { app: 'web' } }, data: Object.fromEntries(words) },
    change: (count) => ({ data: { ...Object.fromEntries(words), 'key-0': `value ${count % 10}` } }),
  },
};

/** One update after the other of one object; each body is what was shown before, changed, as clients send it. */
async function updating({ kind, namespace, object, change }: Sample, isTracked: boolean) {
  const resource = registry.of(kind);
  const name = isTracked ? 'with' : 'without';
  let stored = await resource.create(
    namespace,
    { ...object, metadata: { ...object.metadata, name } },
    context,
  );
  let count = 0;
  const untracked = (metadata: ApiObject['metadata']) => {
    const { managedFields: _fields, ...rest } = metadata ?? {};
    return rest;
  };
  const next = () => {
    const now = resource.encoding.read(stored);
    const metadata = isTracked ? now.metadata : untracked(now.metadata);
    return Buffer.from(JSON.stringify({ ...now, metadata, ...change(count++) }));
  };
  let bytes = next();
  const version = apiVersionOf(kind, groupSuffix);
  const place = { namespace, name };
  return {
    async update() {
      nowMs += 10_000;
      const { object: given } = decodeObject(kind, version, { encoding: 'json', bytes });
      stored = isTracked
        ? (await resource.put(place, given, context, () => Promise.resolve())).stored
        : // an apply has settled who manages what: here nobody
          await resource.change(place, { make: () => given, operation: 'Apply' }, '', context);
      return resource.encoding.show(stored);
    },
    prepare() {
      bytes = next();
    },
  };
}

const rounds = 20_000;

/** Microseconds of an update, tracked and not, in turns, so that whatever else the machine does meets both alike. */
async function compare(sample: Sample): Promise<void> {
  const ways = [await updating(sample, true), await updating(sample, false)].map((way) => {
    return { ...way, took: new Float64Array(rounds) };
  });
  for (let round = -rounds / 4; round < rounds; round++) {
    for (const { prepare, update, took } of ways) {
      prepare();
      const startMs = performance.now();
      await update();
      if (round >= 0) took[round] = (performance.now() - startMs) * 1000;
    }
  }
  const [tracked = [], untracked = []] = ways.map(({ took }) => {
    const mean = took.reduce((sum, one) => sum + one, 0) / rounds;
    return [took.sort()[rounds / 2] ?? 0, mean];
  });
  const cells = [0, 1].map((index) => {
    const [a = 0, b = 0] = [tracked[index], untracked[index]];
    return `${b.toFixed(1).padStart(9)} ${a.toFixed(1).padStart(9)} ${(a / b).toFixed(2).padStart(6)}`;
  });
  console.log(`${sample.name.padEnd(22)} ${cells.join('   ')}`);
}

const wanted = process.argv.find((argument) => argument.startsWith('--profile='))?.slice('--profile='.length);
if (wanted === undefined) {
  console.log(`${''.padEnd(22)}   p50 µs   tracked  ratio     mean µs   tracked  ratio`);
  for (const sample of Object.values(samples)) await compare(sample);
} else {
  const sample = samples[wanted];
  if (sample === undefined) throw new Error(`there is no ${wanted}: ${Object.keys(samples).join(', ')}`);
  const { update, prepare } = await updating(sample, true);
  for (const end = performance.now() + 10_000; performance.now() < end; prepare()) await update();
}
await storage.close();
