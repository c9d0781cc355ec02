import { join } from 'node:path';
import { formatList } from '../format.ts';
import type { Host } from '../host.ts';
import type { Entry, PathFacts } from '../inspect-path.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, failed, ok, unknown, warning } from '../types.ts';

interface FolderOptions {
  rootDir: string;
  certDir: string;
}

export function createFolderChecks({ rootDir, certDir }: FolderOptions): Check[] {
  const needed = 'belongs to root or the agent’s user, and nobody else can write in it';
  return [
    {
      id: 'root-dir',
      topic: 'storage',
      title: 'owner and mode of the root folder',
      needed,
      run: (host, signal) => judgeFolder(host, rootDir, signal),
    },
    {
      id: 'cert-dir',
      topic: 'storage',
      title: 'owner and mode of the folder of keys',
      needed,
      run: (host, signal) => judgeFolder(host, certDir, signal),
    },
    {
      id: 'plugins-dir',
      topic: 'storage',
      title: 'owner and mode of the folder where plugins register',
      needed:
        'as for the root folder: any process that creates a socket there is treated as a driver of this node',
      run: (host, signal) => judgeFolder(host, join(rootDir, 'plugins_registry'), signal),
    },
    {
      id: 'secret-files',
      topic: 'storage',
      title: 'keys and kubeconfigs',
      needed: 'regular files that nobody else can read',
      run: (host, signal) => judgeSecrets(host, [rootDir, certDir], signal),
    },
    {
      id: 'checkpoint-dir',
      topic: 'checkpoints',
      title: 'owner and mode of the folder of checkpoints',
      needed: 'as of the root folder, and closed to others (0700): archives hold the memory of workloads',
      async run(host, signal) {
        const path = join(rootDir, 'checkpoints');
        const finding = await judgeFolder(host, path, signal);
        const looked = finding.verdict === 'ok' ? await host.inspectPath({ path }, signal) : undefined;
        if (looked === undefined || !('found' in looked) || (looked.found.mode & 0o077) === 0) return finding;
        return warning(
          formatOwner(looked.found),
          `close it: chmod 700 ${path} (the agent does so at its start)`,
        );
      },
    },
  ];
}

async function judgeFolder(host: Host, path: string, signal: AbortSignal): Promise<Finding> {
  const looked = await host.inspectPath({ path }, signal);
  if ('found' in looked) return judgeOwner(looked.found, host.user);
  if (looked.fault === 'ENOENT') return ok(`${path} does not exist yet; the agent creates it`);
  return unknown(`${path}: ${looked.fault}`, looked.fault === 'EACCES' ? asRoot : 'look at that path');
}

/** A user who can write in the folder, or owns it, can put their own keys and accounts there. */
function judgeOwner(facts: PathFacts, user: number): Finding {
  const { kind, uid, mode, path } = facts;
  const found = formatOwner(facts);
  if (kind !== 'folder') return failed(`${path} is no folder`, `remove what is at ${path}`);
  if (uid !== 0 && uid !== user) {
    // it is fine if the agent runs as that user, which only root can find out
    return user === 0
      ? failed(found, `find out what user ${uid} has put there, then chown root ${path}`)
      : unknown(found, asRoot);
  }
  if ((mode & 0o002) !== 0)
    return failed(
      found,
      `find out what others have put there, then chmod 700 ${path}; the agent refuses to start`,
    );
  if ((mode & 0o020) !== 0) return warning(found, `remove write permission for the group: chmod g-w ${path}`);
  return ok(found);
}

const formatOwner = ({ path, uid, mode }: PathFacts) =>
  `${path} belongs to user ${uid}, mode ${mode.toString(8).padStart(4, '0')}`;

const maxEntries = 1000;
const isSecret = ({ name }: Entry) => /\.(key|kubeconfig)$/.test(name);

async function judgeSecrets(host: Host, folders: readonly string[], signal: AbortSignal): Promise<Finding> {
  const bad: string[] = [];
  let count = 0;
  for (const path of new Set(folders)) {
    const looked = await host.inspectPath({ path, entries: maxEntries }, signal);
    if ('fault' in looked) {
      if (looked.fault === 'ENOENT') continue;
      return unknown(`${path}: ${looked.fault}`, asRoot);
    }
    const secrets = (looked.found.entries ?? []).filter(isSecret);
    count += secrets.length;
    const open = secrets.filter(({ kind, mode }) => kind !== 'file' || (mode & 0o077) !== 0);
    bad.push(...open.map(({ name, kind, mode }) => `${join(path, name)} (${kind}, ${mode.toString(8)})`));
  }
  if (bad.length === 0)
    return ok(count === 0 ? 'there are none yet' : `${count} files, all closed to others`);
  return failed(
    `open to others: ${formatList(bad)}`,
    'close them (chmod 600), and replace keys that were open, with their certificates',
  );
}
