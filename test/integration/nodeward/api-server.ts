import type { SupervisedProcess } from '../../support/index.ts';
import { startProcess } from '../../support/index.ts';
import { program } from './program.ts';

/** `nodeward apiserver` by itself. Disposal ends it. */
export interface RunningApiServer extends AsyncDisposable {
  readonly process: SupervisedProcess;
  /** `https://host:port` */
  readonly url: string;
  /** Of an administrator. */
  readonly kubeconfig: string;
}

/** Starts a control plane and resolves when it serves; `port` 0 lets the system choose. */
export async function startApiServer(
  rootDir: string,
  { port = 0, args = [] }: { port?: number; args?: readonly string[] } = {},
): Promise<RunningApiServer> {
  const [node, script] = program;
  const argv = [script, 'apiserver', '--root-dir', rootDir, '--secure-port', String(port), ...args];
  const child = await startProcess(node, argv);
  const [, url = '', kubeconfig = ''] = await child
    .waitForOutput(/^serving on (\S+) \(kubeconfig (.+)\)\n/m, { timeoutMs: 90_000 })
    .catch(async (error: unknown) => {
      await child.stop();
      throw error;
    });
  return { process: child, url, kubeconfig, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}
