import { join } from 'node:path';
import { Command, Option } from 'commander';
import { ExitError, exitCodes, makeFolders, writeFileAtomic } from '../../base/index.ts';
import { renderKubeconfig } from '../../client/index.ts';
import { configurationFolder } from '../agent-client/installed-flags.ts';
import { installedRootDir, rootDirOption } from '../flags/common-flags.ts';
import { parseFilePath } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import { writeNotes } from '../terminal/output.ts';
import { quoteForShell } from '../terminal/text.ts';
import { checkToken, parseHash, parseNodeName, parseServer } from './values.ts';

interface Flags {
  rootDir: string;
  /** By the flag; else the installed agent's folder counts. */
  rootDirIsGiven: boolean;
  token: string;
  /** `sha256:HEX`; any of both lists. */
  caHash?: string[];
  discoveryTokenCaCertHash?: string[];
  nodeName?: string;
  etcDir?: string;
  start: boolean;
}

/** `nodeward join SERVER`: makes this machine a node of a control plane that runs elsewhere. */
export function joinCommand(context: CommandContext): Command {
  return new Command('join')
    .description(
      'Make this machine a node of a control plane that runs elsewhere: "nodeward token create" prints the command there.',
    )
    .argument('<server>', 'address of the control plane: HOST[:PORT]', parseServer)
    .addOption(new Option('--token <token>', 'the token').makeOptionMandatory())
    .addOption(
      new Option('--ca-hash <hash>', "sha256:… of the public key of the control plane's authority").argParser(
        parseHash,
      ),
    )
    .addOption(
      new Option('--discovery-token-ca-cert-hash <hash>', 'the same, as kubeadm calls it').argParser(
        parseHash,
      ),
    )
    .addOption(
      new Option('--node-name <name>', 'name of the node (default: the host name)').argParser(parseNodeName),
    )
    .addOption(rootDirOption())
    .addOption(
      new Option('--etc-dir <dir>', 'folder for the configuration (default: /etc/nodeward)').argParser(
        parseFilePath,
      ),
    )
    .addOption(new Option('--no-start', 'only write the configuration; start no agent'))
    .action(async (server: string, flags: Omit<Flags, 'rootDirIsGiven'>, command: Command) => {
      const isGiven = command.getOptionValueSource('rootDir') === 'cli';
      await joinServer(server, { ...flags, rootDirIsGiven: isGiven }, context);
    });
}

async function joinServer(server: string, given: Flags, context: CommandContext): Promise<void> {
  checkToken(given.token);
  const { findEarlier } = await import('./earlier.ts');
  const { readAgentEnv, readNameFlag, writeJoinFlags } = await import('./agent-env.ts');
  const { readRootDir } = await import('../agent-client/installed-flags.ts');
  const hashes = requireHashes(given);
  const folder = given.etcDir ?? configurationFolder(context.env);
  const env = await readAgentEnv(folder);
  const installed = given.rootDirIsGiven ? undefined : readRootDir(env.text);
  const flags = { ...given, rootDir: installed ?? given.rootDir };
  const earlier = await findEarlier(flags.rootDir, hashes);
  await makeWritable(folder);
  const kubeconfig = join(folder, 'bootstrap.kubeconfig');
  const joining = { server, hashes, token: flags.token };
  const isNew = await writeBootstrap(kubeconfig, joining, earlier === 'member', context.signal);
  if (earlier === 'controlPlane')
    writeNotes(context, [
      `the agent no longer runs the control plane in ${flags.rootDir}, whose objects stay there`,
    ]);
  const name = flags.nodeName === undefined ? readNameFlag(env) : `--hostname-override=${flags.nodeName}`;
  const own = [`--bootstrap-kubeconfig=${kubeconfig}`, ...(name === undefined ? [] : [name])];
  const changed = await writeJoinFlags(env, own);
  const remark = isNew ? `${server} is the control plane` : 'this machine has joined already';
  context.stdout.write(`${remark}; the agent's flags are in ${env.path}\n`);
  await startAgent({ own, restart: changed || isNew }, flags, context);
}

function requireHashes({ caHash = [], discoveryTokenCaCertHash = [] }: Flags): string[] {
  const hashes = [...caHash, ...discoveryTokenCaCertHash];
  if (hashes.length > 0) return hashes;
  throw new ExitError(
    exitCodes.usage,
    '--ca-hash is missing: without it another machine could answer in place of the control plane',
  );
}

/**
 * Writes the bootstrap kubeconfig once the server has accepted the token. A member whose file says the same already needs
 * no token any more: it stays, and the result is false.
 */
async function writeBootstrap(
  path: string,
  joining: { server: string; hashes: readonly string[]; token: string },
  isMember: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const { hasBootstrap } = await import('./earlier.ts');
  if (isMember && (await hasBootstrap(path, joining))) return false;
  const { findTrustedAuthority } = await import('./discover.ts');
  const ca = await findTrustedAuthority(joining, signal);
  const { server, token } = joining;
  await writeFileAtomic(path, renderKubeconfig({ server, ca, token, user: 'bootstrap' }));
  return true;
}

async function makeWritable(folder: string): Promise<void> {
  try {
    await makeFolders(folder);
    const { access, constants } = await import('node:fs/promises');
    await access(folder, constants.W_OK);
  } catch (error) {
    const message = `cannot write in ${folder}: join as root, or choose another folder with --etc-dir`;
    throw new ExitError(exitCodes.unwritable, message, { cause: error });
  }
}

/** How long the first certificate may take; it is signed within a second unless it waits for an approval. */
const certificateTimeoutMs = 20_000;

async function startAgent(
  { own, restart }: { own: readonly string[]; restart: boolean },
  flags: Flags,
  { stdout, signal, env }: CommandContext,
): Promise<void> {
  const { hasUnit, startUnit } = await import('./start.ts');
  const installed = await hasUnit(signal);
  if (!flags.start && installed) {
    stdout.write('start it with: systemctl enable --now nodeward\n');
    return;
  }
  if (!installed) {
    const program = env['NODEWARD_COMMAND'] ?? 'nodeward';
    const place = flags.rootDir === installedRootDir ? [] : [`--root-dir=${flags.rootDir}`];
    stdout.write(
      `systemd runs no nodeward here; run: ${[program, ...['agent', ...own, ...place].map(quoteForShell)].join(' ')}\n`,
    );
    return;
  }
  const credentials = join(flags.rootDir, 'node.kubeconfig');
  const joined = await startUnit({ restart, credentials, timeoutMs: certificateTimeoutMs }, signal);
  stdout.write(
    joined
      ? 'the agent runs, and has its certificate\n'
      : 'the agent starts, and is not ready yet: it may wait for its certificate; it says why in: journalctl -u nodeward\n',
  );
}
