/**
 * How fast a burst of pods is given nodes in a large cluster, without HTTP and disk: `node bench/scheduler.ts [quick]`. 5,000 nodes in
 * ten zones that have two pods each; 1,000 pods at once: plain ones, ones that spread, ones that keep apart, ones of daemons, and ones for which
 * others have to end. The pods are created while the scheduler runs, which is part of what is measured.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Node, Pod } from '../src/api/index.ts';
import { namespaceKind, nodeKind, podKind, priorityClassKind } from '../src/api/index.ts';
import { controlPlaneUser } from '../src/apiserver/authn/index.ts';
import { createRegistry } from '../src/apiserver/registry/index.ts';
import { RunningScheduler, scheduler } from '../src/apiserver/scheduler/index.ts';
import { createCache, openStore } from '../src/apiserver/storage/index.ts';
import { MetricsRegistry, silentLogger, systemClock } from '../src/base/index.ts';
import { printRow } from './report.ts';

const quick = process.argv.includes('quick');
const nodeCount = quick ? 500 : 5000;
const burst = quick ? 200 : 1000;
const zones = 10;
const namespace = 'default';
const context = { user: controlPlaneUser, dryRun: false };
const labels = { app: 'burst' };
const selector = { matchLabels: labels };

type Spec = Omit<NonNullable<Pod['spec']>, 'containers'>;

/** What the pods of a burst say beside their containers, and the cpus that each wants. */
const bursts: Readonly<
  Record<string, { readonly cpu: string; readonly spec?: Spec | ((index: number) => Spec) }>
> = {
  plain: { cpu: '100m' },
  'spread over zones': {
    cpu: '100m',
    spec: {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
      ],
    },
  },
  'one on each host': {
    cpu: '100m',
    spec: {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'host', labelSelector: selector }],
        },
      },
    },
  },
  'each on a named host': { cpu: '100m', spec: (index) => onHost(`node-${index}`) },
  'in the place of others': { cpu: '8', spec: { priorityClassName: 'important' } },
};

/** As a DaemonSet asks for its nodes. */
function onHost(name: string): Spec {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [name] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
}

const clock = systemClock;
const log = silentLogger();
const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock, log });
const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
const [pods, nodes] = [registry.of(podKind), registry.of(nodeKind)];

async function fill(): Promise<void> {
  await registry.of(namespaceKind).create('', { metadata: { name: namespace } }, context);
  await registry.of(priorityClassKind).create('', { metadata: { name: 'important' }, value: 1000 }, context);
  for (let index = 0; index < nodeCount; index++) {
    const name = `node-${index}`;
    const node: Node = {
      metadata: { name, labels: { host: name, zone: `zone-${index % zones}` } },
      status: { allocatable: { cpu: '16', memory: '64Gi', pods: '110' } },
    };
    await nodes.create('', node, context);
    for (const which of ['a', 'b'])
      await create(`${name}-${which}`, '6', { nodeName: name }, { app: `app-${index % 500}` });
  }
}

async function create(
  name: string,
  cpu: string,
  spec: Spec = {},
  own: Record<string, string> = labels,
): Promise<void> {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu, memory: '128Mi' } } }];
  await pods.create(namespace, { metadata: { name, labels: own }, spec: { ...spec, containers } }, context);
}

const remove = (name: string) => pods.delete(namespace, name, { gracePeriodSeconds: 0 }, context);

/** Does what agents do: pods that are to end are gone at once. Calls back for each pod that has a node. */
function follow(onBound: (name: string) => void): Disposable {
  const look = ({ key, value }: { key: string; value: Uint8Array }) => {
    const { name } = pods.placeOf(key);
    const text = Buffer.from(value).toString('latin1');
    if (text.includes('"deletionTimestamp"')) void remove(name);
    else if (text.includes('"nodeName"')) onBound(name);
  };
  return pods.follow({ added: look, changed: look, gone: () => undefined });
}

async function measure(what: string, { cpu, spec }: (typeof bursts)[string]): Promise<void> {
  const names = Array.from({ length: burst }, (_, index) => `${what.replaceAll(' ', '-')}-${index}`);
  const waiting = new Set(names);
  const done = Promise.withResolvers<void>();
  using _following = follow((name) => {
    if (waiting.delete(name) && waiting.size === 0) done.resolve();
  });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const [beganMs, used] = [performance.now(), process.cpuUsage()];
  delay.enable();
  await Promise.all(
    names.map((name, index) => create(name, cpu, typeof spec === 'function' ? spec(index) : spec)),
  );
  await done.promise;
  delay.disable();
  const seconds = (performance.now() - beganMs) / 1000;
  const { user, system } = process.cpuUsage(used);
  printRow([
    what,
    (burst / seconds).toFixed(0),
    ((user + system) / 1000 / burst).toFixed(2),
    (delay.max / 1e6).toFixed(0),
  ]);
  for (const name of names) await remove(name);
}

await fill();
const stop = new AbortController();
const metrics = new MetricsRegistry();
const service = scheduler({ registry, storage, clock, log, metrics, running: new RunningScheduler() });
const startedMs = performance.now();
let ended: Promise<void> | undefined;
await new Promise<void>((ready) => {
  ended = service.run(stop.signal, ready);
});
printRow([`${nodeCount} nodes, ${burst} pods at once`, 'pods/s', 'ms CPU each', 'longest ms']);
for (const [what, each] of Object.entries(bursts)) await measure(what, each);
printRow([`all together, s`, ((performance.now() - startedMs) / 1000).toFixed(1)]);
stop.abort();
await ended;
await storage.close();
