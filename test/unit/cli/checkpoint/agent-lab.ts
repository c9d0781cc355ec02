import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderKubeconfig } from '../../../../src/client/index.ts';
import type { ManageLabOptions } from '../../agent/checkpoint/manage/manage-lab.ts';
import { manageLab } from '../../agent/checkpoint/manage/manage-lab.ts';
import { admin, cluster } from '../../agent/server/running-server.ts';
import { runCommandLine } from '../run-command.ts';

/** An agent's server over a folder of checkpoints, and `nodeward checkpoint` that asks it. */
export async function agentLab(options: ManageLabOptions = {}) {
  const at = await manageLab(options);
  const kubeconfig = join(at.rootDir, 'agent.kubeconfig');
  const { cert, key } = admin;
  const text = renderKubeconfig({
    server: `https://127.0.0.1:${at.server.port}`,
    ca: cluster.ca,
    cert,
    key,
    user: 'admin',
    serverName: 'node-a',
    endpoint: 'agent',
  });
  await writeFile(kubeconfig, text, { mode: 0o600 });
  const run = (...args: string[]) => runCommandLine(['checkpoint', ...args, '--root-dir', at.rootDir]);
  return { ...at, run, [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() };
}
