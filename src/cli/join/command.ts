import { join } from 'node:path';
import { Command, Option } from 'commander';
import { ExitError, exitCodes, makeFolders, writeFileAtomic } from '../../base/index.ts';
import { renderKubeconfig } from '../../client/index.ts';
import { configurationFolder } from '../agent-client/examined-agent.ts';
import { installedRootDir, rootDirOption } from '../flags/common-flags.ts';
import { parseFilePath } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import { writeNotes } from '../terminal/output.ts';
import { quoteForShell } from '../terminal/text.ts';
import { checkToken, parseHash, parseNodeName, parseServer } from './values.ts';

interface Flags {
  rootDir: string;
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
    .action(async (server: string, flags: Flags) => await joinServer(server, flags, context));
}

async function joinServer(server: string, flags: Flags, context: CommandContext): Promise<void> {
  checkToken(flags.token);
  const { findEarlier } = await import('./earlier.ts');
  const { checkOperatorFlags, writeJoinFlags } = await import('./agent-env.ts');
  const hashes = [...(flags.caHash ?? []), ...(flags.discoveryTokenCaCertHash ?? [])];
  if (hashes.length === 0)
    throw new ExitError(
      exitCodes.usage,
      '--ca-hash is missing: without it another machine could answer in place of the control plane',
    );
  const folder = flags.etcDir ?? configurationFolder(context.env);
  const kubeconfig = join(folder, 'bootstrap.kubeconfig');
  await checkOperatorFlags(folder);
  const earlier = await findEarlier(flags.rootDir, hashes);
  await makeWritable(folder);
  if (earlier !== 'member') {
    const { findTrustedAuthority } = await import('./discover.ts');
    const ca = await findTrustedAuthority({ server, hashes, token: flags.token }, context.signal);
    await writeFileAtomic(
      kubeconfig,
      renderKubeconfig({ server, ca, token: flags.token, user: 'bootstrap' }),
    );
  }
  if (earlier === 'controlPlane')
    writeNotes(context, [
      `the agent no longer runs the control plane in ${flags.rootDir}, whose objects stay there`,
    ]);
  const own = [`--bootstrap-kubeconfig=${kubeconfig}`, ...nameFlags(flags)];
  const changed = await writeJoinFlags(folder, own);
  const remark = earlier === 'member' ? 'this machine has joined already' : `${server} is the control plane`;
  context.stdout.write(`${remark}; the agent's flags are in ${join(folder, 'agent.env')}\n`);
  await startAgent({ own, restart: changed || earlier !== 'member' }, flags, context);
}

const nameFlags = ({ nodeName }: Flags) =>
  nodeName === undefined ? [] : [`--hostname-override=${nodeName}`];

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
  const { hasUnit, startUnit, waitForFile } = await import('./start.ts');
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
  await startUnit(restart, signal);
  const joined = await waitForFile(join(flags.rootDir, 'node.kubeconfig'), certificateTimeoutMs, signal);
  stdout.write(
    joined
      ? 'the agent runs, and has its certificate\n'
      : 'the agent runs, and waits for its certificate; it says why in: journalctl -u nodeward\n',
  );
}
