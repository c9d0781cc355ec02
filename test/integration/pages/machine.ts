import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandResult } from '../../support/index.ts';
import { freePort, runCommand, temporaryFolder } from '../../support/index.ts';
import { fetched, repository } from '../lab/index.ts';

/**
 * A place where commands of the pages run as on a machine on which nodeward is installed: `nodeward`, `kubectl` and a
 * `systemctl` that starts and stops an agent of its own, with a root folder and a backup folder in a temporary folder.
 */
export interface PageMachine extends AsyncDisposable {
  /** Runs a script of a page with bash, which ends at the first command that fails. */
  run(script: string): Promise<CommandResult>;
}

/** Paths in the pages, by the folder that stands for them. */
const places = {
  '/var/lib/nodeward': 'root',
  '/etc/nodeward': 'etc',
  '/var/backups/nodeward': 'backup',
  '/srv/nodeward': 'moved',
};

/** Starts the agent and resolves when it is ready. */
export async function startPageMachine(): Promise<PageMachine> {
  const folder = await temporaryFolder('pages-');
  const home = folder.path;
  for (const name of ['bin', 'etc', 'etc/config.d', 'backup']) await mkdir(join(home, name));
  const write = (name: string, text: string) => writeFile(join(home, 'bin', name), text, { mode: 0o755 });
  await write('nodeward', nodewardScript());
  await write('sudo', '#!/bin/sh\nexec "$@"\n');
  await write('systemctl', systemctlScript(home, await freePort(), await freePort()));
  const env = {
    PATH: `${join(home, 'bin')}:${fetched('tools/bin')}:${process.env['PATH']}`,
    HOME: home,
    KUBECONFIG: join(home, 'root/admin.kubeconfig'),
    NODEWARD_ROOT_DIR: join(home, 'root'),
    NODEWARD_ETC_DIR: join(home, 'etc'),
    NO_PROXY: '*',
  };
  const run = (script: string) =>
    runCommand('bash', ['--norc', '-euo', 'pipefail', '-c', inPlaces(script, home)], {
      env,
      cwd: home,
      timeoutMs: 60_000,
    });
  const dispose = async () => {
    await run('systemctl stop nodeward || true');
    await folder[Symbol.asyncDispose]();
  };
  const started = await run('systemctl start nodeward');
  if (started.code !== 0) {
    await dispose();
    throw new Error(`the agent did not start:\n${started.stderr}`);
  }
  return { run, [Symbol.asyncDispose]: dispose };
}

function inPlaces(script: string, home: string): string {
  let text = script;
  for (const [path, name] of Object.entries(places)) text = text.replaceAll(path, join(home, name));
  return text;
}

/** The command, which finds its folders by the environment. */
function nodewardScript(): string {
  return `#!/bin/sh
exec ${repository}/node_modules/.bin/node ${repository}/dist/main.js "$@"
`;
}

/** Starts and stops the one agent, by the id of its process; reads the flags of etc/agent.env as the unit does. */
function systemctlScript(home: string, port: number, securePort: number): string {
  return `#!/bin/bash
set -eu
cd ${home}
stop() {
  [ -f pid ] || return 0
  kill -INT "$(cat pid)" 2>/dev/null || true
  while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.05; done
  rm pid
}
start() {
  NODEWARD_FLAGS=
  if [ -f etc/agent.env ]; then . etc/agent.env; fi
  : > log
  setsid ${repository}/scripts/up --root-dir ${home}/root --port ${port} --secure-port ${securePort} \\
    --config-dir etc/config.d $NODEWARD_FLAGS > log 2>&1 < /dev/null &
  echo $! > pid
  for _ in $(seq 600); do
    if grep -q '^nodeward is ready' log; then return 0; fi
    kill -0 "$(cat pid)" 2>/dev/null || break
    sleep 0.05
  done
  cat log >&2
  return 1
}
case $1 in
  stop) stop ;;
  start) start ;;
  restart) stop; start ;;
  reload) ${home}/bin/nodeward reload ;;
  *) echo "systemctl: $1 is not known here" >&2; exit 1 ;;
esac
`;
}
