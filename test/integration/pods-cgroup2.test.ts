/** Pods on a kernel with control groups of version 2 alone, with both drivers: limits, tiers, memory that runs out, usage, resize. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../src/api/index.ts';
import { eventKind, podKind } from '../../src/api/index.ts';
import { runCommand, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { repository } from './lab/index.ts';
import type { Container, PodSpec, UnifiedNode } from './pods/index.ts';
import { containerOf, isRunningAndReady, script, sleeper, startUnifiedNode, uidOf } from './pods/index.ts';

before(ensureBuilt);

const mebi = 2 ** 20;
const limited = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
/** The machine has one processor, so little of it is requested. */
const small = { requests: { cpu: '10m' }, limits: { memory: '24Mi' } };
const only = (main: Container, more: Partial<PodSpec> = {}): PodSpec => ({
  containers: [main],
  restartPolicy: 'Never',
  ...more,
});

/** Holds 40 MiB and is as busy as it may be. */
const busy = `trap 'exit 0' TERM; dd if=/dev/zero of=/dev/shm/held bs=1M count=40; while :; do :; done`;
/** What a container sees of its own group, as its message. */
const sees =
  '(cat /proc/self/cgroup; cd /sys/fs/cgroup; cat memory.max cpu.max; mkdir own 2>&1; ls -d kubepods*) > /dev/termination-log 2>&1';

const specs: Readonly<Record<string, PodSpec>> = {
  guaranteed: only(sleeper('main', { resources: limited('100m', '32Mi') })),
  burstable: only(
    script('main', busy, {
      resources: { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '200m', memory: '96Mi' } },
    }),
  ),
  besteffort: only(sleeper('main')),
  whole: only(sleeper('main'), { resources: { limits: { cpu: '300m', memory: '64Mi' } } }),
  own: only(script('main', sees, { resources: limited('100m', '48Mi') })),
  first: only(script('main', 'exec tail /dev/zero', { resources: small })),
  child: only(
    script('main', `trap 'exit 0' TERM; tail /dev/zero; while :; do sleep 3600 & wait $!; done`, {
      resources: small,
    }),
  ),
};

test('a kernel that cannot be booted says what is missing', async () => {
  const { code, stderr } = await runCommand(join(repository, 'scripts/lab/kernel-boot'), [
    '--kernel',
    '/nowhere',
  ]);
  assert.equal(code, 1);
  assert.equal(stderr, 'kernel-boot: there is no kernel in /nowhere; run scripts/lab/fetch uml\n');
});

describe('pods on version 2 of the control groups', { concurrency: true }, () => {
  for (const cgroupDriver of ['cgroupfs', 'systemd'] as const) {
    const killsSingleProcess = cgroupDriver === 'systemd'; // the one setting here, the other there
    describe(`with the driver ${cgroupDriver}`, { concurrency: false }, () => {
      let node: UnifiedNode;
      const made: Record<string, Pod> = {};
      before(async () => {
        const config = `podPidsLimit: 60\nsingleProcessOOMKill: ${killsSingleProcess}`;
        node = await startUnifiedNode({
          cgroupDriver,
          config,
          args: ['--feature-gates', 'InPlacePodVerticalScaling=true'],
        });
        for (const [name, spec] of Object.entries(specs)) made[name] = await node.run(name, spec);
      });
      after(() => node?.[Symbol.asyncDispose]());

      const of = (name: string): Pod => made[name] ?? assert.fail(`there is no pod ${name}`);
      const runs = async (name: string): Promise<Pod> =>
        (await node.pods.until('it to run', uidOf(of(name)), ({ pod }) => isRunningAndReady(pod))).pod;
      const ends = async (name: string) => {
        const { pod } = await node.pods.until('it to end', uidOf(of(name)), (state) =>
          ['Failed', 'Succeeded'].includes(state.pod.status?.phase ?? ''),
        );
        return containerOf(pod)?.state?.terminated;
      };
      const told = (name: string) =>
        waitFor(
          'the Event',
          async () => {
            const { items } = await node.api.list(eventKind, { namespace: 'default' });
            const uid = uidOf(of(name));
            return items.find((each) => each.reason === 'OOMKilling' && each.involvedObject.uid === uid)
              ?.message;
          },
          { timeoutMs: 30_000 },
        );
      /** Below the root of the tree. */
      const groupsOfPods = async () => {
        const lines = (await node.kernel.sh('cd /sys/fs/cgroup; find kubepods* -type d')).split('\n');
        return lines.flatMap((path) => {
          const uid = /pod([\w-]{36})(?:\.slice)?$/.exec(path)?.[1]?.replaceAll('_', '-');
          return uid === undefined ? [] : [{ path, uid }];
        });
      };
      const limits = ['cpu.max', 'cpu.weight', 'memory.max', 'pids.max'] as const;

      test('each class has its tier, and each pod and container its limits', async () => {
        const rows: Record<string, unknown> = {};
        for (const name of ['guaranteed', 'burstable', 'besteffort', 'whole']) {
          const pod = await runs(name);
          const container = await node.readGroup(pod, ['cpu.max', 'memory.max', 'memory.oom.group'], 'main');
          rows[name] = [await node.readGroup(pod, limits), container];
        }
        const group = (cpu: string, weight: string, memory: string) => ({
          ...{ 'cpu.max': cpu, 'cpu.weight': weight, 'memory.max': memory, 'pids.max': '60' },
        });
        const container = (cpu: string, memory: string) => ({
          ...{ 'cpu.max': cpu, 'memory.max': memory, 'memory.oom.group': killsSingleProcess ? '0' : '1' },
        });
        assert.deepEqual(rows, {
          guaranteed: [group('10000 100000', '4', `${32 * mebi}`), container('10000 100000', `${32 * mebi}`)],
          burstable: [group('20000 100000', '4', `${96 * mebi}`), container('20000 100000', `${96 * mebi}`)],
          besteffort: [group('max 100000', '1', 'max'), container('max 100000', 'max')],
          whole: [group('30000 100000', '12', `${64 * mebi}`), container('30000 100000', `${64 * mebi}`)],
        });
        const groups = await groupsOfPods();
        const tierOf = (name: string) => {
          const found = groups.find(({ uid }) => uid === uidOf(of(name)))?.path ?? '';
          return found.slice(0, found.lastIndexOf('/'));
        };
        const [top, slice] = cgroupDriver === 'systemd' ? ['kubepods.slice', '.slice'] : ['kubepods', ''];
        const tier = (name: string) => `${top}/${slice === '' ? name : `kubepods-${name}${slice}`}`;
        assert.deepEqual(['guaranteed', 'burstable', 'besteffort'].map(tierOf), [
          top,
          tier('burstable'),
          tier('besteffort'),
        ]);
        const { 'memory.max': all } = await node.readFiles(top, ['memory.max']);
        assert.match(all ?? '', /^\d+$/, 'all pods together may use what the node has for them');
      });

      test('the kernel holds back a container that uses more cpu than it may', async () => {
        const pod = await runs('burstable');
        await waitFor('it to be held back', async () => {
          const { 'cpu.stat': stat = '' } = await node.readGroup(pod, ['cpu.stat'], 'main');
          return Number(/^nr_throttled (\d+)$/m.exec(stat)?.[1]) >= 3;
        });
      });

      test('a container sees its own group as the root, and cannot change it', async () => {
        const { exitCode, message = '' } = (await ends('own')) ?? {};
        const [path, memory, cpu, refused] = message.split('\n');
        assert.deepEqual(
          [path, memory, cpu],
          ['0::/', `${48 * mebi}`, '10000 100000'],
          `${exitCode}: ${message}`,
        );
        assert.match(refused ?? '', /Read-only file system/);
        assert.doesNotMatch(message, /^kubepods/m);
      });

      test('a first process that wants more memory than it may have is killed, and its pod says so', async () => {
        // with systemd the group goes with its last process, often before the runtime has looked into it
        const { reason, exitCode, message = '' } = (await ends('first')) ?? {};
        assert.deepEqual([reason, exitCode], ['OOMKilled', 137]);
        assert.match(message, /limit of memory is/);
      });

      if (killsSingleProcess) {
        test('a child that does so is killed alone, and an Event tells', async () => {
          const pod = await runs('child');
          assert.match(
            await told('child'),
            /^the kernel killed .* of container main for want of memory: its limit of memory is 24Mi/,
          );
          const { 'memory.events': events = '' } = await node.readGroup(pod, ['memory.events'], 'main');
          assert.match(events, /^oom_kill 1$/m);
          assert.equal(containerOf(await runs('child'))?.restartCount, 0);
        });
      } else {
        test('a child that does so takes all processes of its container with it', async () => {
          const { reason, exitCode } = (await ends('child')) ?? {};
          assert.deepEqual([reason, exitCode], ['OOMKilled', 137]);
        });
      }

      test('what a pod uses is told from its groups', async () => {
        const pod = await runs('burstable');
        const read = async (path: string) =>
          (await node.kubectl.run(['get', '--raw', `/api/v1/nodes/lab/proxy/${path}`])).stdout;
        const summary = await waitFor('40 MiB in use', async () => {
          const { pods }: { pods: PodSummary[] } = JSON.parse(await read('stats/summary'));
          const found = pods.find(({ podRef }) => podRef.name === 'burstable');
          return (found?.memory.workingSetBytes ?? 0) > 40 * mebi && found;
        });
        const { 'memory.current': usage, 'cpu.stat': stat = '' } = await node.readGroup(pod, [
          'memory.current',
          'cpu.stat',
        ]);
        assert(
          summary.memory.workingSetBytes < 96 * mebi &&
            summary.memory.workingSetBytes <= Number(usage) + 20 * mebi,
        );
        const [main] = summary.containers;
        const nanoSeconds = 1000 * Number(/^usage_usec (\d+)$/m.exec(stat)?.[1]);
        assert(main !== undefined && main.cpu.usageCoreNanoSeconds > 0, JSON.stringify(main));
        assert(
          main.cpu.usageCoreNanoSeconds <= nanoSeconds,
          `${main.cpu.usageCoreNanoSeconds} of ${nanoSeconds}`,
        );
        assert.match(
          await read('metrics/resource'),
          /^container_memory_working_set_bytes\{container="main",namespace="default",pod="burstable"\} \S+/m,
        );
      });

      test('a running pod gets more and less', async () => {
        const pod = await runs('guaranteed');
        for (const [cpu, memory, wanted] of [
          ['300m', '96Mi', ['30000 100000', `${96 * mebi}`]],
          ['50m', '24Mi', ['5000 100000', `${24 * mebi}`]],
        ] as const) {
          const patch = { spec: { containers: [{ name: 'main', resources: limited(cpu, memory) }] } };
          const how = { namespace: 'default', subresource: 'resize', as: 'strategic' } as const;
          await node.api.patch(podKind, 'guaranteed', patch, how);
          await waitFor(`${cpu} and ${memory}`, async () => {
            const groups = [await node.readGroup(pod, limits), await node.readGroup(pod, limits, 'main')];
            return groups.every(
              (group) => group['cpu.max'] === wanted[0] && group['memory.max'] === wanted[1],
            );
          });
        }
        const now = await runs('guaranteed');
        assert.deepEqual(
          [containerOf(now)?.restartCount, containerOf(now)?.containerID],
          [0, containerOf(pod)?.containerID],
        );
      });

      test('nothing is left of a pod that has gone', async () => {
        for (const name of Object.keys(specs)) await node.delete(name);
        for (const name of Object.keys(specs)) {
          await node.pods.until('it to be gone', uidOf(of(name)), ({ isGone }) => isGone);
        }
        await waitFor('its group to be gone', async () => (await groupsOfPods()).length === 0);
      });
    });
  }
});

interface PodSummary {
  podRef: { name: string };
  memory: { workingSetBytes: number };
  containers: { cpu: { usageCoreNanoSeconds: number } }[];
}
