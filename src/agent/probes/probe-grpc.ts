import { GrpcError, grpcCodes, openTcpClient } from '../../base/grpc/index.ts';
import { describeError } from '../../base/index.ts';
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from './gen/health_pb.js';
import { referenceVersion } from './http-get.ts';
import type { Probe, ProbeOutcome, ProbePlace } from './types.ts';
import { formatSeconds, joinHostPort, resolveHost } from './types.ts';

type GrpcCheck = NonNullable<Probe['grpc']>;

const maxMessageBytes = 64 * 1024;

/** The health service of gRPC must answer SERVING; without TLS. `timeoutSeconds` is for messages. */
export async function probeGrpc(
  { port, service = '' }: GrpcCheck,
  place: ProbePlace,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const address = joinHostPort(resolveHost(undefined, place), port);
  const within = formatSeconds(timeoutSeconds);
  using client = openTcpClient(address, { maxMessageBytes, userAgent: `kube-probe/${referenceVersion}` });
  if (!(await client.untilConnected(signal))) {
    const output = `timeout: failed to connect service ${JSON.stringify(address)} within ${within}: context deadline exceeded`;
    return { result: 'failure', output };
  }
  try {
    const { status } = await client.unary(
      Health.method.check,
      { service },
      { deadlineMs: null, cancel: signal },
    );
    if (status === ServingStatus.SERVING) return { result: 'success' };
    const name = ServingStatus[status] ?? String(status);
    return { result: 'failure', output: `service unhealthy (responded with ${JSON.stringify(name)})` };
  } catch (error) {
    const timeout = `timeout: health rpc did not complete within ${within}`;
    return { result: 'failure', output: signal.aborted ? timeout : describeFailure(error) };
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof GrpcError && error.code === grpcCodes.UNIMPLEMENTED)
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${error.message}`;
  return `error: health rpc probe failed: ${describeError(error)}`;
}
