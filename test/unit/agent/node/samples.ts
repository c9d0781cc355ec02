import { Writable } from 'node:stream';
import type {
  Eviction,
  ImageView,
  NodeSettings,
  Reserved,
  RuntimeCondition,
  RuntimeView,
  Thresholds,
} from '../../../../src/agent/node/index.ts';
import { toShare } from '../../../../src/agent/node/index.ts';
import type { Measurements } from '../../../../src/agent/node/measure.ts';
import type { SystemFacts } from '../../../../src/agent/node/system-facts.ts';
import type { Logger } from '../../../../src/base/index.ts';
import { createLogger } from '../../../../src/base/index.ts';

/** What the configuration says of thresholds by default. */
export const hardEviction: Thresholds = {
  'memory.available': { amount: 100 * 1024 * 1024, text: '100Mi' },
  'nodefs.available': toShare(10),
  'nodefs.inodesFree': toShare(5),
  'imagefs.available': toShare(15),
  'imagefs.inodesFree': toShare(5),
  'pid.available': toShare(10),
};

export const defaultEviction: Eviction = {
  hard: hardEviction,
  soft: {},
  softGraceMs: {},
  reclaim: {},
  transitionMs: 300_000,
  maxPodGraceSeconds: 0,
  limitsStorage: true,
};

export const noPressure = { memory: false, disk: false, pid: false };

export const nothingReserved: Reserved = { cpuMillis: 0, memoryBytes: 0, storageBytes: 0, pids: 0 };

/** Those of an agent without a configuration file. */
export const nodeSettings: NodeSettings = {
  maxPods: 110,
  updateFrequencyMs: 10_000,
  reportFrequencyMs: 300_000,
  eviction: defaultEviction,
  maxImages: 50,
  reserved: nothingReserved,
  registration: { register: true, labels: {}, taints: [], providerID: '' },
};

export const facts: SystemFacts = {
  machineID: '3d1219c7c4c5404aaa1f6d2a48adfda4',
  systemUUID: '9c1f3b6e-0000-4000-8000-5a0c2f4f9e11',
  bootID: 'e833fc67-d6ee-4097-998e-d19f6469f3bb',
  kernelVersion: '6.1.0-28-amd64',
  osImage: 'Debian GNU/Linux 12 (bookworm)',
  operatingSystem: 'linux',
  architecture: 'amd64',
};

export const healthy: Measurements = {
  cpus: 2,
  memory: { capacityBytes: 24_684_084 * 1024, availableBytes: 20_000_000 * 1024 },
  disk: {
    capacityBytes: 269_490_393_088,
    availableBytes: 200_000_000_000,
    inodes: 1_000_000,
    inodesFree: 900_000,
    askedMs: 0,
  },
  swapBytes: 0,
  imageDisk: undefined,
  containerDisk: undefined,
  pids: { limit: 32_768, used: 300 },
  hugePages: [
    { pageBytes: 2 * 1024 * 1024, totalBytes: 0 },
    { pageBytes: 1024 * 1024 * 1024, totalBytes: 0 },
  ],
};

export const runtimeReady: RuntimeCondition = {
  ready: true,
  networkReady: true,
  reason: '',
  message: '',
  name: 'containerd',
  version: '2.1.9',
};

export const runtimeWithoutNetwork: RuntimeCondition = {
  ...runtimeReady,
  networkReady: false,
  reason: 'NetworkPluginNotReady',
  message: 'NetworkReady: Network plugin returns error: cni plugin not initialized',
};

export const runtimeAbsent: RuntimeCondition = {
  ready: false,
  networkReady: false,
  reason: 'RuntimeUnavailable',
  message: 'unix:///run/containerd/containerd.sock: connect ENOENT',
  name: '',
  version: '',
};

export interface FakeRuntime extends RuntimeView {
  set(status: RuntimeCondition): void;
  setImages(images: ImageView): void;
  readonly listeners: number;
}

export function createFakeRuntime(first: RuntimeCondition): FakeRuntime {
  const listeners = new Set<() => void>();
  let status = first;
  let images: ImageView = { images: undefined, imageDir: undefined, containerDir: undefined };
  const imageListeners = new Set<() => void>();
  return {
    images: () => images,
    onImagesChange(listener) {
      imageListeners.add(listener);
      return { [Symbol.dispose]: () => void imageListeners.delete(listener) };
    },
    setImages(next) {
      images = next;
      for (const listener of imageListeners) listener();
    },
    status: () => status,
    onStatusChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    set(next) {
      status = next;
      for (const listener of listeners) listener();
    },
    get listeners() {
      return listeners.size + imageListeners.size;
    },
  };
}

/** A log whose lines, from `info` on, a test can read. */
export function recordingLog(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      const { level, msg } = JSON.parse(String(chunk));
      lines.push(`${level}: ${msg}`);
      done();
    },
  });
  return { log: createLogger({ format: 'json', level: 'info', output }), lines };
}
