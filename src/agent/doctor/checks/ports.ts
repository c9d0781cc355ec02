import type { Host } from '../host.ts';
import { findHolder, readProcessName } from '../runtime-process.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, failed, notApplicable, ok, unknown } from '../types.ts';

interface PortOptions {
  id: 'agent-port' | 'api-port';
  title: string;
  /** 0: any free port; undefined: none is opened. */
  port: number | undefined;
  flag: string;
  /** The pid of the running agent. */
  agent(host: Host, signal: AbortSignal): Promise<number | undefined>;
}

export function createPortCheck({ id, title, port, flag, agent }: PortOptions): Check {
  return {
    id,
    topic: 'agent',
    title,
    needed: 'free, or held by nodeward itself',
    async run(host, signal) {
      if (port === undefined) return notApplicable('none is opened here');
      if (port === 0) return ok('any free one is taken');
      const inodes = findListeners(host, port);
      if (inodes === undefined) return unknown('/proc/net/tcp cannot be read');
      if (inodes.length === 0) return ok(`${port} is free`);
      return judgeHolder(host, port, flag, findHolder(host, inodes), await agent(host, signal));
    },
  };
}

function judgeHolder(
  host: Host,
  port: number,
  flag: string,
  holder: number | undefined,
  agent: number | undefined,
): Finding {
  if (holder === undefined)
    return host.user === 0
      ? unknown(`${port} is held by a process that cannot be seen, perhaps of another container`)
      : unknown(`${port} is held by a process of another user`, asRoot);
  const name = readProcessName(host, holder).replaceAll(/\p{C}/gu, '?');
  const own = agent !== undefined && (holder === agent || readParentPid(host, holder) === agent);
  if (own) {
    const listener = holder === agent ? 'the agent' : "the agent's control plane";
    return ok(`${port}: ${listener} (process ${holder}) listens there`);
  }
  return failed(
    `${port} is held by process ${holder} (${name})`,
    `stop that process, or choose another port with ${flag}`,
  );
}

/** Inodes of the sockets that listen on a port, IPv4 and IPv6. Lines are `sl local rem st … inode`. */
function findListeners(host: Host, port: number): string[] | undefined {
  const texts = ['tcp', 'tcp6'].flatMap((name) => host.read(`/proc/net/${name}`) ?? []);
  if (texts.length === 0) return undefined;
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = texts.flatMap((text) => text.split('\n').map((line) => line.trim().split(/\s+/)));
  const listening = '0A';
  return rows.flatMap(([, local = '', , state, , , , , , inode]) =>
    local.endsWith(`:${hex}`) && state === listening && inode !== undefined ? [inode] : [],
  );
}

function readParentPid(host: Host, pid: number): number | undefined {
  const line = /^PPid:\s+(\d+)$/m.exec(host.read(`/proc/${pid}/status`) ?? '')?.[1];
  return line === undefined ? undefined : Number(line);
}
