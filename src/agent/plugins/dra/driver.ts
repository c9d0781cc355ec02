import type { CallOptions } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { DraInstance } from './instance.ts';
import { sortByPreference } from './instance.ts';
import type { DraMethod, DraMetrics } from './metrics.ts';
import { readPrepared, readUnprepared } from './responses.ts';
import type { DraClaim, DraDriver, DraReadiness } from './types.ts';

export interface DriverParts {
  readonly name: string;
  /** The processes that are registered now. */
  readonly instances: () => Iterable<DraInstance>;
  readonly clock: Clock;
  readonly metrics: DraMetrics;
  /** The deadline of one call. */
  readonly deadlineMs: number;
}

/** More claims than a pod may have. */
const claimLimit = 256;

/** Creates a driver for the code that starts pods, independent of which of its processes serves the calls. */
export function createDriver(parts: DriverParts): DraDriver {
  const { name } = parts;
  return {
    name,
    readiness: () => computeReadiness(parts),
    async prepare(claims, cancel) {
      return await callDriver(
        parts,
        'NodePrepareResources',
        claims,
        cancel,
        async ({ client, chosen }, options) => {
          const { nodePrepareResources } = chosen.service.method;
          return readPrepared(
            claims,
            await client.unary(nodePrepareResources, { claims: [...claims] }, options),
          );
        },
      );
    },
    async unprepare(claims, cancel) {
      return await callDriver(
        parts,
        'NodeUnprepareResources',
        claims,
        cancel,
        async ({ client, chosen }, options) => {
          const { nodeUnprepareResources } = chosen.service.method;
          return readUnprepared(
            claims,
            await client.unary(nodeUnprepareResources, { claims: [...claims] }, options),
          );
        },
      );
    },
  };
}

function computeReadiness({ instances, clock }: DriverParts): DraReadiness {
  const order = sortByPreference(instances());
  const { link, plugin, chosen } = order[0] ?? {};
  return {
    isConnected: link?.isConnected ?? false,
    sinceMs: link?.sinceMs ?? clock.now(),
    endpoint: plugin?.endpoint ?? '',
    service: chosen?.name ?? '',
    sockets: order.length,
  };
}

type Use<T> = (instance: DraInstance, options: CallOptions) => Promise<T>;

async function callDriver<T>(
  parts: DriverParts,
  method: DraMethod,
  claims: readonly DraClaim[],
  cancel: AbortSignal,
  use: Use<T>,
): Promise<T> {
  const { name, deadlineMs } = parts;
  refuseClaims(name, claims);
  const tried = new Set<DraInstance>();
  let failure = new Error(`DRA driver ${name} is not registered`);
  for (;;) {
    const instance = sortByPreference(parts.instances()).find((each) => !tried.has(each));
    if (instance === undefined) throw failure;
    tried.add(instance);
    try {
      return await measure(parts, method, () => use(instance, { deadlineMs, cancel }));
    } catch (error) {
      cancel.throwIfAborted();
      failure = new Error(`DRA driver ${name}: ${method}: ${describeFailure(error, deadlineMs)}`, {
        cause: error,
      });
      if (!hasGone(error)) throw failure;
    }
  }
}

/**
 * Whether the process was not there, or left during the call. Then another process of the driver is tried: preparing a claim
 * twice has the same effect as once.
 */
function hasGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === grpcCodes.UNAVAILABLE || code === grpcCodes.CANCELLED;
}

async function measure<T>(
  { name, clock, metrics }: DriverParts,
  method: DraMethod,
  call: () => Promise<T>,
): Promise<T> {
  const startedMs = clock.monotonicMs();
  let result = 'answered';
  try {
    return await call();
  } catch (error) {
    const code = codeOf(error);
    result = code === undefined ? 'unusable' : (grpcCodes[code] ?? 'UNKNOWN');
    throw error;
  } finally {
    metrics.called(name, method, result, (clock.monotonicMs() - startedMs) / 1000);
  }
}

function refuseClaims(driver: string, claims: readonly DraClaim[]): void {
  if (claims.length > claimLimit) {
    throw new Error(
      `DRA driver ${driver}: ${claims.length} claims at once, at most ${claimLimit} are allowed`,
    );
  }
  if (new Set(claims.map(({ uid }) => uid)).size < claims.length) {
    throw new Error(`DRA driver ${driver}: a claim is named twice`);
  }
}

function codeOf(error: unknown): number | undefined {
  return error instanceof GrpcError ? error.code : undefined;
}

function describeFailure(error: unknown, deadlineMs: number): string {
  if (codeOf(error) === grpcCodes.DEADLINE_EXCEEDED) return `no answer within ${deadlineMs / 1000} s`;
  return describeError(error);
}
