import { Command, InvalidArgumentError, Option } from 'commander';
import { StatusError, secretKind } from '../../api/index.ts';
import type { BootstrapToken } from '../../apiserver/authn/index.ts';
import { ExitError, exitCodes, systemClock, writeFileAtomic } from '../../base/index.ts';
import type { Kubeconfig } from '../../client/index.ts';
import { ApiClient, clientOptionsOf, renderKubeconfig } from '../../client/index.ts';
import { readServerKubeconfig } from '../agent-client/server-kubeconfig.ts';
import type { PlaceFlags } from '../flags/common-flags.ts';
import { rootDirOption, serverOption } from '../flags/common-flags.ts';
import { parseFileOrDash, parseTimeToLive } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import type { OutputFlags, OutputFormat } from '../terminal/output.ts';
import { listOutputOption, textOutputOption, writeResult } from '../terminal/output.ts';
import type { TableResult } from '../terminal/result.ts';

interface CreateFlags extends PlaceFlags {
  /** Milliseconds. */
  ttl: number;
  groups: string[];
  nodeName: string[];
  description?: string;
  kubeconfigOut?: string;
  server?: string;
  output: OutputFormat | 'kubeconfig';
}

/** `nodeward token …`: manages the tokens with which new nodes join. */
export function tokenCommand(context: CommandContext): Command {
  const command = new Command('token').description('Make, list and delete the tokens with which nodes join.');
  for (const part of [createCommand, listCommand, deleteCommand]) command.addCommand(part(context));
  return command;
}

function createCommand(context: CommandContext): Command {
  return tokenSubcommand('create', 'Create a token, and print the command with which a machine joins.')
    .addOption(
      new Option('--ttl <duration>', 'how long it is valid')
        .default(24 * 3600_000, '24h')
        .argParser(parseTimeToLive),
    )
    .addOption(
      new Option('--groups <list>', 'further groups of its user: system:bootstrappers:…')
        .default([])
        .argParser((text) => text.split(',')),
    )
    .addOption(
      new Option('--node-name <list>', 'the nodes that may join with it (default: any)')
        .default([], 'any')
        .argParser((text, before: string[]) => [...before, ...text.split(',')]),
    )
    .addOption(new Option('--description <text>', 'what it is for'))
    .addOption(
      new Option(
        '--kubeconfig-out <file>',
        'write a kubeconfig with the token, 0600; - for standard output',
      ).argParser(parseFileOrDash),
    )
    .addOption(
      new Option(
        '--server <url>',
        'address of the control plane for the new node (default: one by which others reach it)',
      ).argParser(parseHttpsUrl),
    )
    .addOption(textOutputOption('kubeconfig'))
    .action(async (flags: CreateFlags) => await createToken(flags, context));
}

async function createToken(flags: CreateFlags, context: CommandContext): Promise<void> {
  const { generateToken, toSecret } = await import('./secret.ts');
  await checkTokenFlags(flags);
  const { nodeName: nodeNames } = flags;
  const admin = await readServerKubeconfig(flags);
  const made = generateToken();
  const untilMs = systemClock.now() + flags.ttl;
  const request = { ...made, untilMs, groups: flags.groups, nodeNames, description: flags.description };
  await using client = new ApiClient(clientOptionsOf(admin));
  await client.create(secretKind, toSecret(request), { signal: context.signal });
  await reportToken({ ...made, untilMs, admin }, flags, context);
}

interface MadeToken {
  id: string;
  secret: string;
  /** Wall clock, milliseconds. */
  untilMs: number;
  admin: Kubeconfig;
}

/** Writes the kubeconfig where it is wanted, and prints how a node joins with the token. */
async function reportToken(made: MadeToken, flags: CreateFlags, context: CommandContext): Promise<void> {
  const { formatInstructions, formatJoinCommand } = await import('./instructions.ts');
  const { hashAuthority } = await import('../agent-client/authority-hash.ts');
  const { kubeconfigOut, nodeName: nodeNames } = flags;
  const { ca } = made.admin;
  const token = `${made.id}.${made.secret}`;
  const reachable = await findServer(flags, made.admin, context.signal);
  const { server } = reachable;
  const kubeconfig = renderBootstrapKubeconfig(made.admin, server, token);
  const file = kubeconfigOut === '-' ? undefined : kubeconfigOut;
  if (file !== undefined) await writeKubeconfig(file, kubeconfig, made.id);
  if (flags.output === 'kubeconfig' || kubeconfigOut === '-') {
    context.stdout.write(kubeconfig);
    return;
  }
  const expires = new Date(made.untilMs).toISOString();
  const named = nodeNames.length === 0 ? {} : { nodeNames };
  const written = file === undefined ? {} : { kubeconfig: file };
  const command = formatJoinCommand({ token, server, ca, nodeNames });
  const report = { token, expires, server, caCertHash: hashAuthority(ca), command, ...named, ...written };
  writeResult(context, flags.output, {
    document: report,
    names: [made.id],
    text: () => formatInstructions({ token, expires, ...reachable, ca, nodeNames, file }),
  });
}

async function findServer({ server }: CreateFlags, admin: Kubeconfig, signal: AbortSignal) {
  if (server !== undefined) return { server, local: undefined };
  const { findReachableServer } = await import('./reachable-server.ts');
  return await findReachableServer(admin, signal);
}

/** Throws an ExitError for groups or names that a control plane would refuse. */
async function checkTokenFlags({ groups, nodeName: names }: CreateFlags): Promise<void> {
  const { areNodeNames, isBootstrapGroup } = await import('../../apiserver/authn/index.ts');
  const invalid = groups.find((group) => !isBootstrapGroup(group));
  if (invalid !== undefined) {
    const message = `${JSON.stringify(invalid)} is no group of bootstrap tokens: they begin with system:bootstrappers: and go on with lower case letters, digits, - and :`;
    throw new ExitError(exitCodes.usage, message);
  }
  if (names.length === 0 || areNodeNames(names)) return;
  const message = `--node-name takes up to 100 names of nodes: lower case letters, digits, - and dots, not ${JSON.stringify(names.join(','))}`;
  throw new ExitError(exitCodes.usage, message);
}

function renderBootstrapKubeconfig(admin: Kubeconfig, server: string, token: string): string {
  const { ca, serverName } = admin;
  const name = server === admin.server && serverName !== undefined ? { serverName } : {};
  return renderKubeconfig({ server, ca, token, user: 'bootstrap', ...name });
}

/** Throws an ExitError that names the token: it exists, even though the file cannot be written. */
async function writeKubeconfig(file: string, text: string, id: string): Promise<void> {
  try {
    await writeFileAtomic(file, text);
  } catch (error) {
    const message = `the token ${id} is made, but ${file} cannot be written; delete it with: nodeward token delete ${id}`;
    throw new ExitError(exitCodes.unwritable, message, { cause: error });
  }
}

function listCommand(context: CommandContext): Command {
  return tokenSubcommand('list', 'List the tokens, without their secrets.')
    .addOption(listOutputOption())
    .action(async (flags: PlaceFlags & OutputFlags) => {
      const { bootstrapNamespace: namespace, readBootstrapSecret } = await import(
        '../../apiserver/authn/index.ts'
      );
      await using client = new ApiClient(clientOptionsOf(await readServerKubeconfig(flags)));
      const { signal } = context;
      const { items } = await client.list(secretKind, {
        namespace,
        fieldSelector: 'type=bootstrap.kubernetes.io/token',
        signal,
      });
      const tokens = items.map(readBootstrapSecret).filter((token) => token !== undefined);
      writeResult(context, flags.output, listTokens(tokens.map(toEntry)));
    });
}

type Entry = ReturnType<typeof toEntry>;

/** A token without its secret. */
function toEntry({ id, untilMs, groups, nodeNames, description, mayAuthenticate }: BootstrapToken) {
  const end = Number.isFinite(untilMs) ? new Date(untilMs).toISOString() : 'never';
  const expires = untilMs <= systemClock.now() ? 'expired' : end;
  const named = nodeNames === undefined ? {} : { nodeNames };
  return { id, expires, groups, ...named, description, authentication: mayAuthenticate };
}

function listTokens(entries: readonly Entry[]): TableResult<Entry> {
  return {
    document: entries,
    rows: entries,
    columns: [
      { head: 'ID', cell: ({ id }) => id },
      {
        head: 'EXPIRES',
        cell: ({ expires }) => expires,
        tone: ({ expires }) => (expires === 'expired' ? 'bad' : undefined),
      },
      { head: 'GROUPS', cell: ({ groups }) => groups.join(',') || '-' },
      { head: 'NODES', cell: ({ nodeNames }) => nodeNames?.join(',') ?? '-' },
      { head: 'AUTHENTICATION', cell: (entry) => (entry.authentication ? 'yes' : 'no'), wide: true },
      { head: 'DESCRIPTION', cell: ({ description }) => description || '-' },
    ],
    name: ({ id }) => id,
  };
}

function deleteCommand(context: CommandContext): Command {
  return tokenSubcommand('delete', 'Delete a token; it can no longer be used to join.')
    .argument('<id>', 'id of the token, or the whole token', parseTokenId)
    .addOption(textOutputOption())
    .action(async (id: string, flags: PlaceFlags & OutputFlags) => {
      const { bootstrapNamespace: namespace, bootstrapSecretPrefix } = await import(
        '../../apiserver/authn/index.ts'
      );
      await using client = new ApiClient(clientOptionsOf(await readServerKubeconfig(flags)));
      const { signal } = context;
      await client.delete(secretKind, bootstrapSecretPrefix + id, { namespace, signal }).catch((error) => {
        if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
        throw new ExitError(exitCodes.failed, `there is no token ${id}`);
      });
      writeResult(context, flags.output, {
        document: { id, deleted: true },
        names: [id],
        text: () => `the token ${id} is deleted\n`,
      });
    });
}

function tokenSubcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(rootDirOption())
    .addOption(
      serverOption('of the control plane (default: $KUBECONFIG, or admin.kubeconfig in the root dir)'),
    );
}

/** The secret of a whole token is dropped, and never sent. */
function parseTokenId(text: string): string {
  const [id = ''] = text.split('.');
  if (/^[a-z0-9]{6}$/.test(id)) return id;
  throw new InvalidArgumentError('It must be the id of a token: six lower case letters and digits.');
}

function parseHttpsUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text;
  throw new InvalidArgumentError('It must be an address like https://host:port.');
}
