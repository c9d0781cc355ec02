import { isAbsolute, join } from 'node:path';
import type { Host } from '../host.ts';
import type { RuntimeProcess } from '../runtime-process.ts';
import { isGenuine } from '../runtime-process.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, failed, notApplicable, ok, unknown, warning } from '../types.ts';
import { isAtLeast } from '../versions.ts';

/** containerd refuses older versions. */
const minVersion = '3.16';

export function createCriuChecks(
  runtime: () => RuntimeProcess | undefined,
  checkpointEnabled: boolean,
): Check[] {
  const off = notApplicable('the feature gate ContainerCheckpoint is off');
  return [
    {
      id: 'criu',
      topic: 'checkpoints',
      title: 'criu',
      needed: `criu ${minVersion} or later in the PATH of the runtime`,
      run: async (host, signal) => (checkpointEnabled ? await judgeCriu(host, runtime(), signal) : off),
    },
    {
      id: 'criu-check',
      topic: 'checkpoints',
      title: 'what criu says of this machine',
      needed: '"criu check" is content',
      timeoutMs: 10_000,
      run: async (host, signal) => (checkpointEnabled ? await judgeCriuCheck(host, runtime(), signal) : off),
    },
  ];
}

/**
 * The path of criu as the runtime finds it, if it does, and whose PATH was searched. The program is run later, so the
 * runtime's PATH is used only when the process is genuine.
 */
async function findCriu(host: Host, served: RuntimeProcess | undefined, signal: AbortSignal) {
  const runtime = served && (await isGenuine(host, served, signal)) ? served : undefined;
  const runtimePath = runtime?.env.get('PATH');
  const whose = runtimePath === undefined ? 'of this user' : `of ${runtime?.name} (process ${runtime?.pid})`;
  const folders = (runtimePath ?? `${host.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`).split(':');
  const [path = '/usr/sbin/criu', ...orElse] = folders
    .filter(isAbsolute)
    .map((folder) => join(folder, 'criu'));
  const looked = await host.inspectPath({ path, orElse }, signal);
  const isProgram = 'found' in looked && looked.found.kind === 'file' && (looked.found.mode & 0o111) !== 0;
  return { path: isProgram ? looked.found.path : undefined, whose };
}

async function judgeCriu(
  host: Host,
  runtime: RuntimeProcess | undefined,
  signal: AbortSignal,
): Promise<Finding> {
  const { path, whose } = await findCriu(host, runtime, signal);
  const advice = `install criu ${minVersion} or later, for instance from criu.org or your distribution`;
  if (path === undefined && runtime === undefined && host.user !== 0)
    return unknown(`not in the PATH ${whose}; that of the runtime is hidden`, asRoot);
  if (path === undefined) return failed(`not in the PATH ${whose}`, advice);
  const ran = await host.exec(path, ['--version'], signal);
  const version = /Version:\s*(\d[\d.]*)/.exec(ran?.output ?? '')?.[1];
  if (version === undefined)
    return unknown(`${path} does not tell its version: ${findLastLine(ran?.output ?? '')}`);
  const found = `criu ${version}, ${path} in the PATH ${whose}`;
  return isAtLeast(version, minVersion) ? ok(found) : failed(`${found}, is too old`, advice);
}

async function judgeCriuCheck(
  host: Host,
  runtime: RuntimeProcess | undefined,
  signal: AbortSignal,
): Promise<Finding> {
  if (host.user !== 0) return unknown('criu can be asked by root only', asRoot);
  const { path } = await findCriu(host, runtime, signal);
  if (path === undefined) return notApplicable('there is no criu');
  const ran = await host.exec(path, ['check'], signal);
  return ran === undefined ? notApplicable('there is no criu') : parseCriuCheck(ran.code, ran.output);
}

/** Advice by what the output says; the first match counts. */
const adviceByOutput: readonly [RegExp, string][] = [
  [
    /CHECKPOINT_RESTORE|kcmp.*(not implemented|ENOSYS)|clone3|map_files/i,
    'use a kernel with CONFIG_CHECKPOINT_RESTORE',
  ],
  [
    /Operation not permitted|EPERM|CAP_|permission denied/i,
    'run it with all capabilities: inside a container criu needs them all',
  ],
  [
    /sock_diag|inet_diag|unix_diag|tcp_diag|netlink_diag|packet_diag/i,
    'use a kernel with the modules unix_diag, inet_diag, tcp_diag, udp_diag, packet_diag and netlink_diag',
  ],
  [/userfaultfd|UFFD/i, 'only lazy migration needs userfaultfd; nothing to do for checkpoints'],
  [/iptables|nft|netfilter/i, 'install iptables or nft for connections that are open during a checkpoint'],
  [/Dirty tracking/i, 'only incremental dumps need dirty tracking; nothing to do for checkpoints'],
];

/** Exported for tests. */
export function parseCriuCheck(code: number | null, output: string): Finding {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const problems = lines
    .filter((line) => /^(Error|Warn|\(\d+\.\d+\)\s+(Error|Warn))/i.test(line))
    .map(stripSourcePlace);
  const explained = adviceByOutput.find(([pattern]) => problems.some((line) => pattern.test(line)))?.[1];
  const found = problems.slice(0, 3).join('; ') || findLastLine(output);
  if (code !== 0)
    return failed(
      found || 'criu check failed and said nothing',
      explained ?? 'look for the message at criu.org',
    );
  if (problems.length > 0) return warning(found, explained ?? 'look for the message at criu.org');
  return ok('looks good');
}

/** `Warn  (criu/cr-check.c:824): text` without the position in criu's source. */
function stripSourcePlace(line: string): string {
  return line.replace(/^\(\d+\.\d+\)\s+/, '').replace(/^(\w+)\s+\([^)]*\):\s*/, '$1: ');
}

function findLastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
