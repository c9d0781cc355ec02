import type { CallOptions } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { DraInstance } from './instance.ts';
import { inOrder } from './instance.ts';
import type { DraMethod, DraMetrics } from './metrics.ts';
import { preparedOf, unpreparedOf } from './responses.ts';
import type { DraClaim, DraDriver, DraReadiness } from './types.ts';

export interface DriverParts {
  readonly name: string;
  /** Those that are registered now. */
  readonly instances: () => Iterable<DraInstance>;
  readonly clock: Clock;
  readonly metrics: DraMetrics;
  /** For one call. */
  readonly deadlineMs: number;
}

/** More claims than a pod may have. */
const claimLimit = 256;

/** The driver as whoever starts pods sees it, whichever of its processes answers. */
export function createDriver(parts: DriverParts): DraDriver {
  const { name } = parts;
  return {
    name,
    readiness: () => readinessOf(parts),
    async prepare(claims, cancel) {
      return await ask(parts, 'NodePrepareResources', claims, cancel, async ({ client, chosen }, options) => {
        const { nodePrepareResources } = chosen.service.method;
        return preparedOf(claims, await client.unary(nodePrepareResources, { claims: [...claims] }, options));
      });
    },
    async unprepare(claims, cancel) {
      return await ask(
        parts,
        'NodeUnprepareResources',
        claims,
        cancel,
        async ({ client, chosen }, options) => {
          const { nodeUnprepareResources } = chosen.service.method;
          return unpreparedOf(
            claims,
            await client.unary(nodeUnprepareResources, { claims: [...claims] }, options),
          );
        },
      );
    },
  };
}

function readinessOf({ instances, clock }: DriverParts): DraReadiness {
  const order = inOrder(instances());
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

async function ask<T>(
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
    const instance = inOrder(parts.instances()).find((each) => !tried.has(each));
    if (instance === undefined) throw failure;
    tried.add(instance);
    try {
      return await measured(parts, method, () => use(instance, { deadlineMs, cancel }));
    } catch (error) {
      cancel.throwIfAborted();
      failure = new Error(`DRA driver ${name}: ${method}: ${wordsOf(error, deadlineMs)}`, { cause: error });
      if (!hasGone(error)) throw failure;
    }
  }
}

/** Nobody was there, or left meanwhile. At another socket somebody may be; what is prepared twice is prepared once. */
function hasGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === grpcCodes.UNAVAILABLE || code === grpcCodes.CANCELLED;
}

async function measured<T>(
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

function wordsOf(error: unknown, deadlineMs: number): string {
  if (codeOf(error) === grpcCodes.DEADLINE_EXCEEDED) return `no answer within ${deadlineMs / 1000} s`;
  return describeError(error);
}
