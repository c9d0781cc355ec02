import { join } from 'node:path';
import { tryParseRecord } from '../../../base/index.ts';
import { formatCount, formatDuration, formatList } from '../format.ts';
import type { Host } from '../host.ts';
import type { Entry } from '../inspect-path.ts';
import type { RuntimeProcess } from '../runtime-process.ts';
import type { FrozenContainers } from '../runtime-report.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, failed, notApplicable, ok, unknown, warning } from '../types.ts';

interface LeftoverOptions {
  rootDir: string;
  process(): RuntimeProcess | undefined;
  /** Undefined where the runtime cannot be asked. */
  frozen(): Promise<FrozenContainers | undefined>;
}

export function createLeftoverChecks({ rootDir, process, frozen }: LeftoverOptions): Check[] {
  return [
    {
      id: 'leftover-dumps',
      topic: 'checkpoints',
      title: 'dumps that the runtime has left',
      needed: 'none: each holds the memory of a container',
      run: (host, signal) => judgeDumps(host, process(), signal),
    },
    {
      id: 'checkpoint-drafts',
      topic: 'checkpoints',
      title: 'checkpoints that were cut short',
      needed: 'none that are older than a checkpoint takes',
      run: (host, signal) => judgeDraftFolder(host, join(rootDir, 'checkpoints'), signal),
    },
    {
      id: 'frozen-containers',
      topic: 'checkpoints',
      title: 'containers that are frozen',
      needed: 'none, unless an operator paused them on purpose',
      timeoutMs: 10_000,
      async run() {
        const answer = await frozen();
        return answer === undefined ? unknown('the runtime could not be asked') : judgeFrozen(answer);
      },
    },
  ];
}

const maxEntries = 20_000;
/** A checkpoint may be under way; what has not changed for longer than this is left over. */
const underWayMs = 10 * 60_000;

/** containerd dumps into its XDG_RUNTIME_DIR or else its folder for temporary files, and leaves the dump when it is killed. */
async function judgeDumps(
  host: Host,
  runtime: RuntimeProcess | undefined,
  signal: AbortSignal,
): Promise<Finding> {
  const places = listDumpFolders(host, runtime);
  const looks = await Promise.all(
    places.map(({ path }) => host.inspectPath({ path, entries: maxEntries }, signal)),
  );
  const found: { path: string; entry: Entry }[] = [];
  for (const [index, looked] of looks.entries()) {
    const name = places[index]?.name ?? '';
    if ('fault' in looked) {
      if (looked.fault === 'EACCES' || looked.fault === 'EPERM') return unknown(`${name} is hidden`, asRoot);
      continue;
    }
    const entries = (looked.found.entries ?? []).filter(({ name }) => /^ctrd-checkpoint\d*$/.test(name));
    found.push(...entries.map((entry) => ({ path: join(name, entry.name), entry })));
  }
  const old = found.filter(({ entry }) => host.clock.now() - entry.mtimeMs > underWayMs);
  const where = formatList(places.map(({ name }) => name));
  if (old.length > 0) {
    const paths = formatList(old.map(({ path }) => path));
    return warning(
      `${paths} (the oldest of ${formatAge(host, old)})`,
      'remove them once no checkpoint is under way: each holds the memory of a container, and takes room',
    );
  }
  const young = found.length === 0 ? '' : `; ${formatCount(found.length, 'checkpoint')} may be under way`;
  return ok(`none in ${where}${young}`);
}

function formatAge(host: Host, found: readonly { entry: Entry }[]): string {
  return `${formatDuration(host.clock.now() - Math.min(...found.map(({ entry }) => entry.mtimeMs)))} ago`;
}

/** `name` is the path for the runtime, `path` the same folder for this process: their mount namespaces may differ. */
function listDumpFolders(host: Host, runtime: RuntimeProcess | undefined): { name: string; path: string }[] {
  if (runtime === undefined) return ['/tmp', '/run', '/run/user/0'].map((name) => ({ name, path: name }));
  const name = runtime.env.get('XDG_RUNTIME_DIR') || runtime.env.get('TMPDIR') || '/tmp';
  const namespaces = ['self', String(runtime.pid)].map((who) => host.link(`/proc/${who}/ns/mnt`));
  const path = namespaces[0] === namespaces[1] ? name : join(`/proc/${runtime.pid}/root`, name);
  return [{ name, path }];
}

async function judgeDraftFolder(host: Host, folder: string, signal: AbortSignal): Promise<Finding> {
  const looked = await host.inspectPath({ path: folder, entries: maxEntries }, signal);
  if ('fault' in looked) {
    if (looked.fault === 'ENOENT') return ok('no checkpoint has been made here');
    return unknown(`${folder}: ${looked.fault}`, asRoot);
  }
  const entries = looked.found.entries ?? [];
  const damaged = entries.filter(({ name }) => name.startsWith('damaged-journal-'));
  if (damaged.length > 0)
    return failed(
      `damaged journals: ${formatList(damaged.map(({ name }) => join(folder, name)))}`,
      'look whether a container is frozen, resume it, and remove these files',
    );
  const old = entries.filter(
    ({ name, mtimeMs }) => name.startsWith('.inflight-') && host.clock.now() - mtimeMs > underWayMs,
  );
  if (old.length === 0) return ok('none');
  const journals = await Promise.all(old.map(({ name }) => readJournal(host, join(folder, name), signal)));
  return judgeDrafts(host, folder, old, journals);
}

interface Journal {
  readonly container: string;
  readonly bootId: string;
}

async function readJournal(host: Host, draft: string, signal: AbortSignal): Promise<Journal | undefined> {
  const looked = await host.inspectPath({ path: draft, entries: 10, textOf: ['journal.json'] }, signal);
  const entries = 'found' in looked ? (looked.found.entries ?? []) : [];
  const text = entries.find(({ name }) => name === 'journal.json')?.text;
  const journal = tryParseRecord(text ?? '');
  if (journal === undefined) return undefined;
  const container = ['namespace', 'pod', 'container'].map((key) => String(journal[key])).join('/');
  return { container, bootId: String(journal['bootId']) };
}

function judgeDrafts(
  host: Host,
  folder: string,
  old: readonly Entry[],
  journals: readonly (Journal | undefined)[],
): Finding {
  const bootId = host.read('/proc/sys/kernel/random/boot_id')?.trim();
  const ofThisBoot = journals.filter((journal) => journal !== undefined && journal.bootId === bootId);
  if (ofThisBoot.length > 0)
    return failed(
      `cut short since the boot: ${formatList(ofThisBoot.map((journal) => journal?.container ?? '?'))}, which may be frozen`,
      'start the agent: it thaws them and removes what is left; if it runs, look into its log',
    );
  return warning(
    `from before the boot, or nothing was begun: ${formatList(old.map(({ name }) => join(folder, name)))}`,
    'start the agent: it removes them; if it runs, look into its log',
  );
}

function judgeFrozen({ containers, running, inspected }: FrozenContainers): Finding {
  if (containers.length > 0)
    return warning(
      `paused: ${formatList(containers.map(({ name, id }) => `${name} (${id.slice(0, 12)})`))}`,
      'if nobody paused them on purpose, resume them: ctr -n k8s.io tasks resume ID',
    );
  if (running === 0) return ok('no container runs');
  if (inspected === 0) return notApplicable('this runtime does not tell');
  return ok(inspected < running ? `none among the first ${inspected} of ${running}` : `none of ${running}`);
}
