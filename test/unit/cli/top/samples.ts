import type { Answers } from '../../../../src/cli/top/answers.ts';
import type { Figures } from '../../../../src/cli/top/figures.ts';
import type { FrameInput } from '../../../../src/cli/top/frame.ts';
import { readLook } from '../../../../src/cli/top/look.ts';
import type { View } from '../../../../src/cli/top/view.ts';

const [mi, gi] = [2 ** 20, 2 ** 30];
export const nowMs = Date.parse('2026-01-02T03:04:05Z');

interface Use {
  milliCpu: number;
  mib: number;
  limitMib?: number;
  /** Periods, and those of them that were throttled. */
  periods?: readonly [number, number];
  disk?: number;
}

function use({ milliCpu, mib, limitMib, periods }: Use) {
  const [all, throttledPeriods] = periods ?? [0, 0];
  return {
    cpu: { usageNanoCores: milliCpu * 1e6, throttling: { periods: all, throttledPeriods } },
    memory: {
      workingSetBytes: mib * mi,
      ...(limitMib === undefined ? {} : { availableBytes: (limitMib - mib) * mi }),
    },
  };
}

/** Of `/stats/summary`. */
export function usedPod(namespace: string, name: string, own: Use, containers: Record<string, Use>) {
  return {
    podRef: { namespace, name, uid: `${namespace}-${name}` },
    ...use(own),
    'ephemeral-storage': { usedBytes: (own.disk ?? 0) * mi },
    containers: Object.entries(containers).map(([each, used]) => ({
      name: each,
      ...use(used),
      rootfs: { usedBytes: (used.disk ?? 0) * mi },
      logs: { usedBytes: mi },
    })),
  };
}

/** Of `/pods/explain`. */
export function explainedPod(
  namespace: string,
  name: string,
  containers: readonly object[],
  more: object = {},
) {
  return {
    ...{
      namespace,
      name,
      uid: `${namespace}-${name}`,
      phase: 'Running',
      stage: 'running',
      containers,
      ...more,
    },
  };
}

const running = (name: string, restarts: number, ready = true) => ({
  ...{ name, type: 'regular', state: 'running', restarts, ready },
});

/** A node with five pods; `throttled`: of the periods of the web server, so many by the last look. */
export function answers(throttled = 100): Answers {
  const psi = (avg10: number) => ({ psi: { some: { avg10 }, full: { avg10: 0 } } });
  const disk = { capacityBytes: 50 * gi, availableBytes: 30 * gi, inodes: 1000, inodesFree: 900 };
  return {
    summary: {
      node: {
        nodeName: 'node-a',
        cpu: { usageNanoCores: 840_000_000, ...psi(1.25) },
        memory: { workingSetBytes: 1.25 * gi, availableBytes: 2.75 * gi, ...psi(0) },
        io: psi(12.5),
        systemContainers: [
          { name: 'pods', memory: { workingSetBytes: 600 * mi, availableBytes: 1400 * mi } },
        ],
        fs: { ...disk, usedBytes: 20 * gi },
        runtime: { imageFs: { ...disk, usedBytes: 3 * gi }, containerFs: { ...disk, usedBytes: 3 * gi } },
        rlimit: { maxpid: 32_768, curproc: 312 },
      },
      pods: [
        usedPod(
          'shop',
          'web-7d9c5b6f4-x2x7q',
          { milliCpu: 412, mib: 180, disk: 12 },
          {
            main: { milliCpu: 400, mib: 170, limitMib: 200, periods: [throttled * 2, throttled], disk: 10 },
            proxy: { milliCpu: 12, mib: 10 },
          },
        ),
        usedPod(
          'shop',
          'db-0',
          { milliCpu: 35, mib: 512, limitMib: 1024, disk: 900 },
          { postgres: { milliCpu: 35, mib: 512, limitMib: 1024, disk: 800 } },
        ),
        usedPod('kube-system', 'dns-abcde', { milliCpu: 2, mib: 24 }, { dns: { milliCpu: 2, mib: 24 } }),
        usedPod('default', 'foreign', { milliCpu: 1, mib: 3 }, { c: { milliCpu: 1, mib: 3 } }),
      ],
    },
    limits: {
      allocatable: { cpu: '1800m', memory: '3686Mi', pods: '110' },
      thresholds: [
        { signal: 'memory.available', hard: true, amount: 100 * mi },
        { signal: 'memory.available', hard: false, amount: 2 * gi },
        { signal: 'allocatableMemory.available', hard: true, amount: 100 * mi },
        { signal: 'nodefs.available', hard: true, share: 0.1 },
        { signal: 'imagefs.available', hard: true, share: 0.7 },
      ],
      pressures: [
        {
          condition: 'DiskPressure',
          since: '2026-01-02T03:02:05Z',
          found: 'imagefs.available is 30Gi, 35Gi are to stay free',
        },
      ],
    },
    pods: {
      items: [
        explainedPod('shop', 'web-7d9c5b6f4-x2x7q', [
          { name: 'migrate', type: 'init', state: 'ended', restarts: 0 },
          running('main', 3, false),
          running('proxy', 0),
        ]),
        explainedPod('shop', 'db-0', [running('postgres', 0)]),
        explainedPod('kube-system', 'dns-abcde', [running('dns', 1)], { stage: 'terminating' }),
        explainedPod('shop', 'job-done', [{ name: 'j', type: 'regular', state: 'ended', restarts: 0 }], {
          phase: 'Succeeded',
        }),
        explainedPod(
          'shop',
          'cron-28373',
          [{ name: 'c', type: 'regular', state: 'waiting', reason: 'ImagePullBackOff', restarts: 0 }],
          { phase: 'Pending', waitsFor: { reason: 'ImagePullBackOff', message: 'no' } },
        ),
      ],
    },
  };
}

/** As after two looks: between them half of the periods of the web server were throttled. */
export function figures(): Figures {
  const first = readLook(answers(100), nowMs - 2000);
  return readLook(answers(200), nowMs, first).figures;
}

export const view: View = {
  ...{ sort: 'memory', containers: false, first: 0, filter: '', isTyping: false, isPaused: false },
};

export function frameInput(columns: number, rows: number, more: Partial<FrameInput> = {}): FrameInput {
  return {
    ...{ figures: figures(), view, namespace: '', pod: '', intervalMs: 2000, absence: undefined, nowMs },
    size: { columns, rows },
    ...more,
  };
}
