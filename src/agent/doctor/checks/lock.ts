import { parseRecord } from '../../lock/index.ts';
import type { Host } from '../host.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, failed, ok, unknown, warning } from '../types.ts';

/** The agent's lock, inspected without taking it. */
interface LockView {
  readonly check: Check;
  /** The pid of the running agent. The lock is inspected once, by the first call. */
  agent(host: Host, signal: AbortSignal): Promise<number | undefined>;
}

interface LockFinding {
  finding: Finding;
  /** The pid of the holder, which runs. */
  agent: number | undefined;
  /** The root folder of the holder, where the lock names it. */
  rootDir?: string | undefined;
}

export function viewLock(path: string): LockView {
  let result: Promise<LockFinding> | undefined;
  const inspect = (host: Host, signal: AbortSignal) => {
    result ??= inspectLock(path, host, signal);
    return result;
  };
  return {
    check: {
      id: 'lock',
      topic: 'agent',
      title: 'lock of the agent',
      needed: 'free, or held by one that runs',
      run: async (host, signal) => (await inspect(host, signal)).finding,
    },
    agent: async (host, signal) => (await inspect(host, signal)).agent,
  };
}

export async function inspectLock(path: string, host: Host, signal: AbortSignal): Promise<LockFinding> {
  const slash = path.lastIndexOf('/');
  const [folder, name] = [path.slice(0, slash) || '/', path.slice(slash + 1)];
  const there = await host.inspectPath({ path }, signal);
  if ('fault' in there) {
    const finding =
      there.fault === 'ENOENT' ? ok('free: no agent runs') : unknown(`${path}: ${there.fault}`, asRoot);
    return { finding, agent: undefined };
  }
  if (there.found.kind !== 'file')
    return {
      finding: failed(`${path} is no file`, `find out who made it and remove it`),
      agent: undefined,
    };
  const looked = await host.inspectPath({ path: folder, entries: 10_000, textOf: [name] }, signal);
  const entries = 'found' in looked ? (looked.found.entries ?? []) : [];
  const entry = entries.find((each) => each.name === name);
  const record = parseRecord(Buffer.from(entry?.text ?? ''));
  if (entry?.text === undefined || record === undefined)
    return { finding: unknown(`${path} does not say who holds it`, asRoot), agent: undefined };
  const bootId = host.read('/proc/sys/kernel/random/boot_id')?.trim();
  const here = ['pid', 'time']
    .map((kind) => host.link(`/proc/self/ns/${kind}`) ?? `${kind}:[none]`)
    .join(' ');
  if (record.bootId === bootId && record.namespace !== here)
    return {
      finding: unknown(
        `held by process ${record.pid} of another container (pid namespace) since ${record.since}`,
      ),
      agent: undefined,
    };
  if (record.bootId === bootId && readStartTicks(host, record.pid) === record.startTicks) {
    const command = (host.read(`/proc/${record.pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
    const program = command === '' ? '' : ` (${command.replaceAll(/\p{C}/gu, '?').slice(0, 120)})`;
    return {
      finding: ok(`held by process ${record.pid}${program} since ${record.since}`),
      agent: record.pid,
      rootDir: record.rootDir,
    };
  }
  const finding = warning(
    `left by process ${record.pid}, which is gone, since ${record.since}`,
    'nothing: the next agent takes it over; look why the last one ended (journalctl -u nodeward)',
  );
  return { finding, agent: undefined };
}

/** Field 22 of proc_pid_stat(5); the second field is a name that may contain blanks and brackets. */
function readStartTicks(host: Host, pid: number): string | undefined {
  const text = host.read(`/proc/${pid}/stat`) ?? '';
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}
