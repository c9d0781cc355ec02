import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CallOptions, UnixClient } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes, openUnixClient } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import type {
  DriverAbility,
  ExpandRequest,
  PublishRequest,
  StageRequest,
  VolumeCapability,
  VolumeDriver,
  VolumeDrivers,
  VolumeStats,
} from '../../volumes/index.ts';
import { DriverError } from '../../volumes/index.ts';
import type { NodeGetVolumeStatsResponse, VolumeCapabilitySchema } from './gen/csi_pb.js';
import { Node } from './gen/csi_pb.js';
import type { CsiMethod, VolumeCallMetrics } from './metrics.ts';
import type { CsiDriver, CsiDrivers } from './types.ts';

export interface CsiVolumeDriversOptions {
  readonly drivers: CsiDrivers;
  readonly clock: Clock;
  readonly metrics: VolumeCallMetrics;
  /** The deadline of one call; default 2 minutes, as the reference. */
  readonly deadlineMs?: number;
}

/** What a driver says of itself, by its numbers; others do not matter here. */
const abilities: Readonly<Record<number, DriverAbility>> = {
  1: 'stage',
  2: 'stats',
  3: 'expand',
  5: 'several-writers',
  6: 'mount-group',
};

type Call<T> = (client: UnixClient, options: CallOptions) => Promise<T>;

/** Has volumes mounted by the registered drivers. Each call has a connection of its own, as a driver may be replaced at any time. */
export class CsiVolumeDrivers implements VolumeDrivers {
  readonly #options: CsiVolumeDriversOptions;
  /** What a registered process has said stands as long as it is registered. */
  readonly #abilities = new WeakMap<CsiDriver, ReadonlySet<DriverAbility>>();

  constructor(options: CsiVolumeDriversOptions) {
    this.#options = options;
  }

  driver(name: string): VolumeDriver | undefined {
    const driver = this.#options.drivers.driver(name);
    if (driver === undefined) return undefined;
    return {
      abilities: (signal) => this.#readAbilities(driver, signal),
      stage: (request, signal) =>
        this.#call(driver, 'NodeStageVolume', signal, (client, options) =>
          client.unary(Node.method.nodeStageVolume, toStage(request), options),
        ),
      unstage: (volumeId, stagingTargetPath, signal) =>
        this.#call(driver, 'NodeUnstageVolume', signal, (client, options) =>
          client.unary(Node.method.nodeUnstageVolume, { volumeId, stagingTargetPath }, options),
        ),
      publish: (request, signal) =>
        this.#call(driver, 'NodePublishVolume', signal, (client, options) =>
          client.unary(Node.method.nodePublishVolume, toPublish(request), options),
        ),
      unpublish: (volumeId, targetPath, signal) =>
        this.#call(driver, 'NodeUnpublishVolume', signal, (client, options) =>
          client.unary(Node.method.nodeUnpublishVolume, { volumeId, targetPath }, options),
        ),
      expand: (request, signal) =>
        this.#call(driver, 'NodeExpandVolume', signal, (client, options) =>
          client.unary(Node.method.nodeExpandVolume, toExpand(request), options),
        ),
      stats: ({ volumeId, path: volumePath, stagingPath: stagingTargetPath }, signal) =>
        this.#ask(driver, 'NodeGetVolumeStats', signal, async (client, options) =>
          toStats(
            await client.unary(
              Node.method.nodeGetVolumeStats,
              { volumeId, volumePath, stagingTargetPath },
              options,
            ),
          ),
        ),
    };
  }

  onChange(listener: () => void): Disposable {
    return this.#options.drivers.onChange(listener);
  }

  async #readAbilities(driver: CsiDriver, signal: AbortSignal): Promise<ReadonlySet<DriverAbility>> {
    const known = this.#abilities.get(driver);
    if (known !== undefined) return known;
    const found = new Set<DriverAbility>();
    await this.#call(driver, 'NodeGetCapabilities', signal, async (client, options) => {
      const { capabilities } = await client.unary(Node.method.nodeGetCapabilities, {}, options);
      for (const { type } of capabilities) {
        const ability = type.case === 'rpc' ? abilities[type.value.type] : undefined;
        if (ability !== undefined) found.add(ability);
      }
    });
    this.#abilities.set(driver, found);
    return found;
  }

  /** Of an answer that says nothing. */
  async #call(driver: CsiDriver, method: CsiMethod, cancel: AbortSignal, call: Call<unknown>): Promise<void> {
    await this.#ask(driver, method, cancel, call);
  }

  async #ask<T>(
    { name, endpoint }: CsiDriver,
    method: CsiMethod,
    cancel: AbortSignal,
    call: Call<T>,
  ): Promise<T> {
    const { clock, metrics, deadlineMs = 120_000 } = this.#options;
    const startedMs = clock.monotonicMs();
    let result = 'OK';
    using client = openUnixClient(endpoint);
    try {
      return await call(client, { deadlineMs, cancel });
    } catch (error) {
      result = error instanceof GrpcError ? (grpcCodes[error.code] ?? 'UNKNOWN') : 'unusable';
      throw toDriverError(error);
    } finally {
      metrics.called(name, method, result, (clock.monotonicMs() - startedMs) / 1000);
    }
  }
}

/** After these the driver may be at it still, or have done it: as the reference. */
const uncertain: ReadonlySet<number> = new Set([
  grpcCodes.CANCELLED,
  grpcCodes.DEADLINE_EXCEEDED,
  grpcCodes.UNAVAILABLE,
  grpcCodes.RESOURCE_EXHAUSTED,
  grpcCodes.ABORTED,
]);

function toDriverError(cause: unknown): DriverError {
  if (!(cause instanceof GrpcError)) return new DriverError(String(cause), true, { cause });
  const { code, message } = cause;
  const text = code === grpcCodes.DEADLINE_EXCEEDED ? 'context deadline exceeded' : message;
  // without the cause, whose message is this one or says less
  const name = codeName(code);
  return new DriverError(`rpc error: code = ${name} desc = ${text}`, !uncertain.has(code), { code: name });
}

/** As people know the codes: `DeadlineExceeded`. */
function codeName(code: number): string {
  const name = grpcCodes[code] ?? 'UNKNOWN';
  if (code === grpcCodes.CANCELLED) return 'Canceled';
  return name
    .toLowerCase()
    .split('_')
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join('');
}

function toStage({
  volumeId,
  publishContext,
  stagingPath,
  capability,
  secrets,
  volumeContext,
}: StageRequest) {
  return {
    ...{ volumeId, volumeCapability: toCapability(capability), stagingTargetPath: stagingPath },
    ...{ publishContext: { ...publishContext }, secrets: { ...secrets } },
    volumeContext: { ...volumeContext },
  };
}

function toPublish(request: PublishRequest) {
  return { ...toStage(request), targetPath: request.targetPath, readonly: request.isReadOnly };
}

function toExpand({ volumeId, path, stagingPath, sizeBytes, capability, secrets }: ExpandRequest) {
  return {
    ...{ volumeId, volumePath: path, stagingTargetPath: stagingPath, secrets: { ...secrets } },
    capacityRange: { requiredBytes: sizeBytes },
    volumeCapability: toCapability(capability),
  };
}

const units = { bytes: 1, inodes: 2 } as const;

function toStats({ usage, volumeCondition }: NodeGetVolumeStatsResponse): VolumeStats {
  const find = (wanted: number) => {
    const found = usage.find(({ unit }) => unit === wanted);
    if (found === undefined) return undefined;
    const { total, available, used } = found;
    return { total: Number(total), available: Number(available), used: Number(used) };
  };
  return { bytes: find(units.bytes), inodes: find(units.inodes), isAbnormal: volumeCondition?.abnormal };
}

function toCapability({
  accessMode: mode,
  mount,
}: VolumeCapability): MessageInitShape<typeof VolumeCapabilitySchema> {
  if (mount === undefined) return { accessMode: { mode }, accessType: { case: 'block', value: {} } };
  const { fsType, flags, group } = mount;
  const value = { fsType, mountFlags: [...flags], volumeMountGroup: group };
  return { accessMode: { mode }, accessType: { case: 'mount', value } };
}
