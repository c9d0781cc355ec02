import { join } from 'node:path';
import { formatCount, formatDuration, formatList } from '../format.ts';
import type { Host } from '../host.ts';
import { parseMounts } from '../mounts.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, ok, unknown, warning } from '../types.ts';

const maxEntries = 20_000;
/** The agent removes what is left over every two minutes; what is older it could not remove. */
const tidiedMs = 10 * 60_000;

/** Folders of pods of which the agent keeps no record. It has one from before the folder is made until all is removed. */
export function createPodLeftoverCheck(rootDir: string): Check {
  return {
    id: 'pod-leftovers',
    topic: 'pods',
    title: 'folders of pods that are gone',
    needed: 'none',
    run: (host, signal) => judge(host, rootDir, signal),
  };
}

async function judge(host: Host, rootDir: string, signal: AbortSignal): Promise<Finding> {
  const podsDir = join(rootDir, 'pods');
  const [pods, records] = await Promise.all(
    [podsDir, join(rootDir, 'pod-records')].map((path) =>
      host.inspectPath({ path, entries: maxEntries }, signal),
    ),
  );
  const isHidden = [pods, records].some(
    (each) => each !== undefined && 'fault' in each && each.fault !== 'ENOENT',
  );
  if (isHidden) return unknown(`${podsDir} is hidden`, asRoot);
  if (pods === undefined || 'fault' in pods) return ok('there are no pods');
  const known = new Set(
    records === undefined || 'fault' in records
      ? []
      : (records.found.entries ?? []).map(({ name }) => name.replace(/\.json$/, '')),
  );
  const nowMs = host.clock.now();
  const left = (pods.found.entries ?? []).filter(
    ({ name, kind, mtimeMs }) => kind === 'folder' && !known.has(name) && nowMs - mtimeMs > tidiedMs,
  );
  if (left.length === 0) return ok('none');
  const mounts = parseMounts(host.read('/proc/self/mountinfo') ?? '').map(({ point }) => point);
  const described = left.map(({ name, mtimeMs }) => {
    const path = join(pods.found.realPath, name);
    const mounted = mounts.filter((point) => point.startsWith(`${path}/`));
    const inTheWay = mounted.length === 0 ? '' : `, ${formatCount(mounted.length, 'mount')}: ${mounted[0]}`;
    return `${path} (${formatDuration(nowMs - mtimeMs)} old${inTheWay})`;
  });
  return warning(
    `${formatCount(left.length, 'folder')}: ${formatList(described, 3)}`,
    'end what still uses them (fuser -vm PATH) and unmount what is mounted there: the agent then removes them within minutes; its log says what is in the way',
  );
}
