import { join } from 'node:path';
import { formatList } from '../format.ts';
import type { Host } from '../host.ts';
import type { RuntimeReport } from '../runtime-report.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, failed, notApplicable, ok, unknown, warning } from '../types.ts';
import { isAtLeast } from '../versions.ts';

/** The first versions that implement CheckpointContainer. */
const minVersions: Readonly<Record<string, string>> = { containerd: '2.1', 'cri-o': '1.25' };
const neededVersion = 'containerd 2.1 or later, or CRI-O 1.25 or later';

type Ask = () => Promise<RuntimeReport>;

export function createRuntimeChecks(ask: Ask, checkpointEnabled: boolean): Check[] {
  return [
    {
      id: 'runtime-socket',
      topic: 'runtime',
      title: 'container runtime',
      needed: 'a socket that answers',
      run: async (host, signal) => judgeSocket(await ask(), host, signal),
    },
    {
      id: 'runtime-version',
      topic: 'runtime',
      title: 'version of the runtime',
      needed: neededVersion,
      fast: true,
      run: async () => judgeVersion(await ask(), checkpointEnabled),
    },
    {
      id: 'runtime-conditions',
      topic: 'runtime',
      title: 'what the runtime says of itself',
      needed: 'RuntimeReady and NetworkReady',
      run: async () => judgeConditions(await ask()),
    },
    {
      id: 'runtime-checkpoint',
      topic: 'checkpoints',
      title: 'the runtime can checkpoint',
      needed: 'CheckpointContainer, and criu where the runtime looks for it',
      fast: true,
      run: async () => judgeCheckpoint(await ask(), checkpointEnabled),
    },
  ];
}

const notAsked = 'the runtime could not be asked';

async function judgeSocket(
  { endpoint, fault, name, version }: RuntimeReport,
  host: Host,
  signal: AbortSignal,
): Promise<Finding> {
  if (fault === undefined) return ok(`${name} ${version} answers at ${endpoint}`);
  const found = endpoint === undefined ? fault.message : `${endpoint}: ${fault.message}`;
  if (fault.reason === 'timeout')
    return failed(
      found,
      'the runtime hangs: look into its log and restart it (systemctl restart containerd)',
    );
  if (/EACCES|permission denied/i.test(fault.message)) return unknown(found, asRoot);
  if (endpoint === undefined && !(await isInstalled(host, signal)))
    return failed(
      found,
      "install a container runtime, such as Debian's package containerd, or name the socket of one with --container-runtime-endpoint",
    );
  const advice =
    'start the runtime (systemctl start containerd), or name its socket with --container-runtime-endpoint';
  return failed(found, advice);
}

/** Whether there is a program of a runtime where services find theirs. */
async function isInstalled(host: Host, signal: AbortSignal): Promise<boolean> {
  const folders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
  const programs = ['containerd', 'crio', 'cri-dockerd'];
  const [path = '', ...orElse] = folders.flatMap((folder) => programs.map((name) => join(folder, name)));
  return 'found' in (await host.inspectPath({ path, orElse }, signal));
}

function judgeVersion({ fault, name = '', version = '' }: RuntimeReport, enabled: boolean): Finding {
  if (fault !== undefined) return unknown(notAsked);
  const minVersion = minVersions[name];
  const found = `${name} ${version}`;
  if (minVersion === undefined) return ok(`${found}, which nodeward has not been tried with`);
  const enough = isAtLeast(version, minVersion);
  if (enough === undefined) return unknown(`${found}, which is no version`);
  if (enough || !enabled) return ok(found);
  return warning(`${found} is too old for checkpoints`, `install ${name} ${minVersion} or later`);
}

function judgeConditions({ fault, troubles = [] }: RuntimeReport): Finding {
  if (fault !== undefined) return unknown(notAsked);
  const found = formatList(
    troubles.map(({ type, text }) => `${type} is false (${text})`),
    3,
  );
  const types = troubles.map(({ type }) => type);
  if (types.includes('RuntimeReady')) return failed(found, 'look into the log of the runtime and restart it');
  if (types.includes('NetworkReady'))
    return failed(found, 'install a network plugin (CNI) with its configuration in /etc/cni/net.d');
  if (types.length > 0) return warning(found, 'follow what the runtime says');
  return ok('all of its conditions are true');
}

function judgeCheckpoint({ fault, checkpoint, name }: RuntimeReport, enabled: boolean): Finding {
  if (!enabled) return notApplicable('the feature gate ContainerCheckpoint is off');
  if (fault !== undefined || checkpoint === undefined) return unknown(notAsked);
  if (checkpoint === 'ok') return ok('it answers CheckpointContainer');
  if (checkpoint.reason === 'unimplemented')
    return failed(`it does not know CheckpointContainer (${checkpoint.message})`, `install ${neededVersion}`);
  if (/criu/i.test(checkpoint.message))
    return failed(
      checkpoint.message,
      `install criu 3.16 or later where ${name} finds it (its PATH), and restart it`,
    );
  if (checkpoint.reason === 'cancelled' || checkpoint.reason === 'timeout')
    return unknown('it did not answer in time', 'look into the log of the runtime');
  return failed(
    checkpoint.message,
    'look into the log of the runtime: checkpoints may be switched off there',
  );
}
