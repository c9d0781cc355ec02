import { describeError, tryParseRecord } from '../../base/index.ts';
import type { Cgroups } from './cgroup.ts';
import type { Connection } from './connection.ts';
import { RuntimeError } from './errors.ts';
import { RuntimeService } from './gen/cri_pb.js';
import type { ContainerFacts } from './types.ts';

/** See `Runtime.inspect`. */
export async function inspectContainer(
  connection: Connection,
  id: string,
  deadlineMs: number,
): Promise<ContainerFacts> {
  const request = { containerId: id, verbose: true };
  const { status, info } = await connection.call(RuntimeService.method.containerStatus, request, {
    deadlineMs,
  });
  return {
    pid: parsePid(info['info'] ?? '{}'),
    image: status?.image?.image ?? '',
    imageRef: status?.imageRef ?? '',
  };
}

/** The container's first process, where the runtime reports it: the format of the text is the runtime's own. */
function parsePid(text: string): number | undefined {
  const pid = tryParseRecord(text)?.['pid'];
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

/** See `Runtime.memoryBytes`. */
export async function containerMemory(
  connection: Connection,
  cgroups: Cgroups,
  id: string,
  pid: number | undefined,
  deadlineMs: number,
): Promise<number> {
  const read = pid === undefined ? undefined : await cgroups.memoryBytes(pid, id);
  if (read !== undefined) return read;
  const reported = await readReportedMemory(connection, id, deadlineMs);
  if (typeof reported === 'number') return reported;
  throw new RuntimeError('failed', `memory of container ${id} is unknown: ${reported}`);
}

/** Returns the working set, what cannot be dropped at once, or the reason why there is no value. */
async function readReportedMemory(
  connection: Connection,
  id: string,
  deadlineMs: number,
): Promise<number | string> {
  try {
    const request = { containerId: id };
    const { stats } = await connection.call(RuntimeService.method.containerStats, request, { deadlineMs });
    const bytes = stats?.memory?.workingSetBytes ?? stats?.memory?.usageBytes;
    return bytes === undefined || bytes.value === 0n
      ? 'the runtime has no figure for it'
      : Number(bytes.value);
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === 'notFound') throw error;
    return describeError(error);
  }
}
