import { DevicePlugin } from '../../src/agent/plugins/devices/gen/device-plugin_pb.js';
import type { UnixServerOptions } from '../../src/base/grpc/index.ts';
import { GrpcError, grpcCodes, implement, serveUnix } from '../../src/base/grpc/index.ts';
import { silentLogger } from '../../src/base/index.ts';

export interface FakeDevice {
  readonly id: string;
  /** Default Healthy. */
  readonly health?: string;
  readonly numaNodes?: readonly number[];
}

export interface FakePluginOptions {
  /** Absolute path of its socket. */
  readonly socket: string;
  readonly devices?: readonly FakeDevice[];
  readonly preStartRequired?: boolean;
  readonly preferredAllocation?: boolean;
  /** Methods that are never answered. */
  readonly hang?: readonly ('options' | 'list' | 'allocate' | 'preferred' | 'preStart')[];
  /** Methods that fail with this text. */
  readonly fail?: Readonly<Partial<Record<'options' | 'list' | 'allocate', string>>>;
}

/** A device plugin with devices that do not exist, served over real gRPC. Disposing ends its server. */
export interface FakePlugin extends AsyncDisposable {
  readonly socket: string;
  /** Lists these from now on. */
  list(devices: readonly FakeDevice[]): void;
  /** Changes the health of one. */
  health(id: string, health: 'Healthy' | 'Unhealthy'): void;
  /** Sends the same list so many times, as fast as it is read. */
  flood(count: number): void;
  /** Ends the lists that are read, in order. */
  endLists(): void;
  /** Who reads its list now. */
  readonly readers: number;
  /** Names of the methods that were called, with the ids of their devices. */
  readonly calls: readonly string[];
}

interface Reader {
  wake: () => void;
  queued: number;
}

export async function startFakePlugin(options: FakePluginOptions): Promise<FakePlugin> {
  const { socket, hang = [], fail = {} } = options;
  let devices = options.devices ?? [];
  const readers = new Set<Reader>();
  const calls: string[] = [];
  let ends = 0;

  function tellReaders(count = 1): void {
    for (const reader of readers) {
      reader.queued += count;
      reader.wake();
    }
  }

  async function answer(name: 'options' | 'allocate' | 'preferred' | 'preStart', signal: AbortSignal) {
    if (hang.includes(name)) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    const text = name === 'options' || name === 'allocate' ? fail[name] : undefined;
    if (text !== undefined) throw new GrpcError(grpcCodes.INTERNAL, text);
  }

  const service = implement(DevicePlugin, {
    async getDevicePluginOptions(_request, { signal }) {
      calls.push('options');
      await answer('options', signal);
      return {
        preStartRequired: options.preStartRequired ?? false,
        getPreferredAllocationAvailable: options.preferredAllocation ?? false,
      };
    },
    async *listAndWatch(_request, { signal }) {
      calls.push('list');
      if (fail.list !== undefined) throw new GrpcError(grpcCodes.INTERNAL, fail.list);
      const reader: Reader = { wake: () => undefined, queued: hang.includes('list') ? 0 : 1 };
      const born = ends;
      readers.add(reader);
      signal.addEventListener('abort', () => reader.wake());
      try {
        for (;;) {
          while (reader.queued > 0 && !signal.aborted && born === ends) {
            reader.queued -= 1;
            yield { devices: devices.map(messageOf) };
          }
          if (signal.aborted || born !== ends) return;
          await new Promise<void>((resolve) => {
            reader.wake = resolve;
          });
        }
      } finally {
        readers.delete(reader);
      }
    },
    async allocate({ containerRequests }, { signal }) {
      calls.push(`allocate ${containerRequests.map(({ devicesIds }) => devicesIds.join('+')).join()}`);
      await answer('allocate', signal);
      return {
        containerResponses: containerRequests.map(({ devicesIds }) => ({
          envs: { FAKE_DEVICES: devicesIds.join(',') },
          mounts: [{ containerPath: '/opt/fake', hostPath: '/opt/fake', readOnly: true }],
          devices: devicesIds.map((id) => ({
            containerPath: `/dev/${id}`,
            hostPath: '/dev/null',
            permissions: 'rw',
          })),
          annotations: { 'fake.example/devices': devicesIds.join('.') },
          cdiDevices: devicesIds.map((id) => ({ name: `fake.example/device=${id}` })),
        })),
      };
    },
    async getPreferredAllocation({ containerRequests }, { signal }) {
      calls.push('preferred');
      await answer('preferred', signal);
      return {
        containerResponses: containerRequests.map(
          ({ availableDeviceIDs, mustIncludeDeviceIDs, allocationSize }) => {
            const others = availableDeviceIDs.filter((id) => !mustIncludeDeviceIDs.includes(id)).toReversed();
            return { deviceIDs: [...mustIncludeDeviceIDs, ...others].slice(0, allocationSize) };
          },
        ),
      };
    },
    async preStartContainer({ devicesIds }, { signal }) {
      calls.push(`preStart ${devicesIds.join('+')}`);
      await answer('preStart', signal);
      return {};
    },
  });

  const serving: UnixServerOptions = { path: socket, services: [service], log: silentLogger() };
  const server = await serveUnix(serving);
  return {
    socket,
    calls,
    get readers() {
      return readers.size;
    },
    list(next) {
      devices = next;
      tellReaders();
    },
    health(id, health) {
      devices = devices.map((device) => (device.id === id ? { ...device, health } : device));
      tellReaders();
    },
    flood: tellReaders,
    endLists() {
      ends += 1;
      for (const reader of readers) reader.wake();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function messageOf({ id, health = 'Healthy', numaNodes }: FakeDevice) {
  const topology =
    numaNodes === undefined ? {} : { topology: { nodes: numaNodes.map((node) => ({ ID: BigInt(node) })) } };
  return { ID: id, health, ...topology };
}
