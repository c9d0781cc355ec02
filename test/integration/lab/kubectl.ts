import type { CommandResult, SupervisedProcess } from '../../support/index.ts';
import { runCommand, startProcess } from '../../support/index.ts';
import { fetched } from './folder.ts';

export interface KubectlOptions {
  /** Default 60 s; then it is killed and `timedOut` is true. */
  timeoutMs?: number;
  /** Standard input, e.g. a manifest for `-f -`. */
  input?: string;
  /** More variables of the environment, e.g. KUBE_EDITOR. */
  env?: Readonly<Record<string, string>>;
}

/** A real kubectl with a kubeconfig. It keeps its caches in `home`, a folder of the test. */
export interface Kubectl {
  /** Runs it to its end, whatever its exit code. */
  run(argv: readonly string[], options?: KubectlOptions): Promise<CommandResult>;
  /** Starts one that runs on, e.g. `get nodes --watch`. */
  start(argv: readonly string[]): Promise<SupervisedProcess>;
}

/** `program` is an absolute path; default the newest that was fetched. */
export function kubectl(
  kubeconfig: string,
  home: string,
  program: string = fetched('tools/bin/kubectl'),
): Kubectl {
  const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: kubeconfig, NO_PROXY: '*', TZ: 'UTC' };
  return {
    run: (argv, { timeoutMs = 60_000, input, env: more } = {}) =>
      runCommand(program, argv, {
        env: { ...env, ...more },
        timeoutMs,
        ...(input === undefined ? {} : { input }),
      }),
    start: (argv) => startProcess(program, argv, { env }),
  };
}
