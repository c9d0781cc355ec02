import type { AgentDescription } from '../../../../../src/agent/config/control-socket/index.ts';
import { controlSocketService } from '../../../../../src/agent/config/control-socket/index.ts';
import type { Reloaded } from '../../../../../src/agent/config/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { recordedLog } from '../../../base/recorded-log.ts';

/** An agent without a configuration, in its root folder. */
export function sampleAgent(rootDir: string): AgentDescription {
  return {
    pid: 4280,
    version: '0.1.0',
    command: ['node', 'main.js', 'agent'],
    nodeName: 'node-1',
    groupSuffix: 'k8s.io',
    rootDir,
    certDir: `${rootDir}/pki`,
    lockFile: `${rootDir}/nodeward.lock`,
    sources: { flags: {}, standalone: false },
    files: [],
    controlPlane: { mode: 'embedded' },
    urls: { agent: 'https://127.0.0.1:10250', api: 'https://127.0.0.1:6443' },
    kubeconfig: `${rootDir}/admin.kubeconfig`,
  };
}

interface Answers {
  reload?: () => Promise<Reloaded>;
  agent?: AgentDescription;
  /** How often the socket's file is looked at, in milliseconds. */
  lookMs?: number;
}

/** The service of the control socket in a folder, until disposed of. */
export async function startSocket(rootDir: string, { reload, agent, lookMs = 60_000 }: Answers) {
  const stop = new AbortController();
  const { log, text } = recordedLog();
  const ready = Promise.withResolvers<void>();
  const nothing = async () => ({ applied: [], pending: [], warnings: [] });
  const service = controlSocketService({
    rootDir,
    reload: reload ?? nothing,
    describe: () => agent ?? sampleAgent(rootDir),
    dependsOn: [],
    log,
    lookMs,
    clock: systemClock,
  });
  const ended = service.run(stop.signal, () => ready.resolve());
  await Promise.race([ready.promise, ended]);
  const end = async () => {
    stop.abort();
    await ended;
  };
  return { log: text, end, [Symbol.asyncDispose]: end };
}
