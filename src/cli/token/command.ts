import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { StatusError, secretKind } from '../../api/index.ts';
import type { BootstrapToken } from '../../apiserver/authn/index.ts';
import { ExitError, exitCodes, systemClock, writeFileAtomic } from '../../base/index.ts';
import type { Kubeconfig } from '../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig, renderKubeconfig } from '../../client/index.ts';
import type { CommandContext } from '../context.ts';
import { filePath, rootDirOption, timeToLive } from '../flags/flags.ts';

interface Flags {
  rootDir: string;
  kubeconfig?: string;
}

interface CreateFlags extends Flags {
  /** Milliseconds. */
  ttl: number;
  groups: string[];
  nodeName: string[];
  description?: string;
  kubeconfigOut?: string;
  server?: string;
  output: 'text' | 'json' | 'kubeconfig';
}

/** `nodeward token …`: the tokens with which new nodes join. */
export function tokenCommand(context: CommandContext): Command {
  const command = new Command('token').description('Make, list and delete the tokens with which nodes join.');
  for (const part of [create, list, remove]) command.addCommand(part(context));
  return command;
}

function create(context: CommandContext): Command {
  return reaching('create', 'Make a token, and the kubeconfig with which an agent joins by it.')
    .addOption(
      new Option('--ttl <duration>', 'how long it is good')
        .default(24 * 3600_000, '24h')
        .argParser(timeToLive),
    )
    .addOption(
      new Option('--groups <list>', 'further groups of whoever has it: system:bootstrappers:…')
        .default([])
        .argParser((text) => text.split(',')),
    )
    .addOption(
      new Option(
        '--node-name <list>',
        'the nodes that it is for; certificates of others are refused to it (default: any)',
      )
        .default([], 'any')
        .argParser((text, before: string[]) => [...before, ...text.split(',')]),
    )
    .addOption(new Option('--description <text>', 'what it is for'))
    .addOption(
      new Option(
        '--kubeconfig-out <file>',
        'write a kubeconfig with the token, 0600; - for standard output',
      ).argParser((text) => (text === '-' ? text : filePath(text))),
    )
    .addOption(
      new Option(
        '--server <url>',
        'address of the control plane for the new node (default: that of the kubeconfig)',
      ).argParser(httpsUrl),
    )
    .addOption(outputOption('text', 'json', 'kubeconfig'))
    .action(async (flags: CreateFlags) => await createToken(flags, context));
}

async function createToken(flags: CreateFlags, context: CommandContext): Promise<void> {
  const { newToken, tokenSecret } = await import('./secret.ts');
  const { authorityHash, joiningText } = await import('./join.ts');
  await checkWish(flags);
  const { kubeconfigOut, nodeName: nodeNames } = flags;
  const admin = await kubeconfigOf(flags);
  const made = newToken();
  const untilMs = systemClock.now() + flags.ttl;
  const wish = { ...made, untilMs, groups: flags.groups, nodeNames, description: flags.description };
  await using client = new ApiClient(clientOptionsOf(admin));
  await client.create(secretKind, tokenSecret(wish), { signal: context.signal });
  const token = `${made.id}.${made.secret}`;
  const kubeconfig = bootstrapKubeconfig(admin, flags.server, token);
  const file = kubeconfigOut === '-' ? undefined : kubeconfigOut;
  if (file !== undefined) await writeOrTell(file, kubeconfig, made.id);
  const expires = new Date(untilMs).toISOString();
  const server = flags.server ?? admin.server;
  if (flags.output === 'kubeconfig' || kubeconfigOut === '-') context.stdout.write(kubeconfig);
  else if (flags.output === 'json') {
    const named = nodeNames.length === 0 ? {} : { nodeNames };
    const written = file === undefined ? {} : { kubeconfig: file };
    const report = { token, expires, server, caCertHash: authorityHash(admin.ca), ...named, ...written };
    context.stdout.write(`${JSON.stringify(report)}\n`);
  } else {
    context.stdout.write(joiningText({ token, expires, server, ca: admin.ca, nodeNames, kubeconfig, file }));
  }
}

/** Throws for what a control plane would not take for a token. */
async function checkWish({ groups, nodeName: names }: CreateFlags): Promise<void> {
  const { areNodeNames, isBootstrapGroup } = await import('../../apiserver/authn/index.ts');
  const wrong = groups.find((group) => !isBootstrapGroup(group));
  if (wrong !== undefined) {
    const message = `${JSON.stringify(wrong)} is no group of bootstrap tokens: they begin with system:bootstrappers: and go on with lower case letters, digits, - and :`;
    throw new ExitError(exitCodes.usage, message);
  }
  if (names.length === 0 || areNodeNames(names)) return;
  const message = `--node-name takes up to 100 names of nodes: lower case letters, digits, - and dots, not ${JSON.stringify(names.join(','))}`;
  throw new ExitError(exitCodes.usage, message);
}

function bootstrapKubeconfig(admin: Kubeconfig, given: string | undefined, token: string): string {
  const { ca, serverName } = admin;
  const server = given ?? admin.server;
  const name = given === undefined && serverName !== undefined ? { serverName } : {};
  return renderKubeconfig({ server, ca, token, user: 'bootstrap', ...name });
}

async function writeOrTell(file: string, text: string, id: string): Promise<void> {
  try {
    await writeFileAtomic(file, text);
  } catch (error) {
    const message = `the token ${id} is made, but ${file} cannot be written; delete it with: nodeward token delete ${id}`;
    throw new ExitError(exitCodes.unwritable, message, { cause: error });
  }
}

function list(context: CommandContext): Command {
  return reaching('list', 'List the tokens, without their secrets.')
    .addOption(outputOption('text', 'json'))
    .action(async (flags: Flags & { output: 'text' | 'json' }) => {
      const { bootstrapNamespace: namespace, readBootstrapSecret } = await import(
        '../../apiserver/authn/index.ts'
      );
      await using client = new ApiClient(clientOptionsOf(await kubeconfigOf(flags)));
      const { signal } = context;
      const { items } = await client.list(secretKind, {
        namespace,
        fieldSelector: 'type=bootstrap.kubernetes.io/token',
        signal,
      });
      const tokens = items.map(readBootstrapSecret).filter((token) => token !== undefined);
      const shown = tokens.map(shownToken);
      const table = [['ID', 'EXPIRES', 'GROUPS', 'NODES', 'DESCRIPTION'], ...shown.map(cells)];
      context.stdout.write(flags.output === 'json' ? `${JSON.stringify(shown)}\n` : aligned(table));
    });
}

function shownToken({ id, untilMs, groups, nodeNames, description, mayAuthenticate }: BootstrapToken) {
  const end = Number.isFinite(untilMs) ? new Date(untilMs).toISOString() : 'never';
  const expires = untilMs <= systemClock.now() ? 'expired' : end;
  const named = nodeNames === undefined ? {} : { nodeNames };
  return { id, expires, groups, ...named, description, authentication: mayAuthenticate };
}

function cells({ id, expires, groups, nodeNames, description }: ReturnType<typeof shownToken>): string[] {
  return [id, expires, groups.join(',') || '-', nodeNames?.join(',') ?? '-', description || '-'];
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function remove(context: CommandContext): Command {
  return reaching('delete', 'Delete a token; nobody can join with it any more.')
    .argument('<id>', 'its id, or the whole token', tokenId)
    .action(async (id: string, flags: Flags) => {
      const { bootstrapNamespace: namespace, bootstrapSecretPrefix } = await import(
        '../../apiserver/authn/index.ts'
      );
      await using client = new ApiClient(clientOptionsOf(await kubeconfigOf(flags)));
      const { signal } = context;
      await client.delete(secretKind, bootstrapSecretPrefix + id, { namespace, signal }).catch((error) => {
        if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
        throw new ExitError(exitCodes.failed, `there is no token ${id}`);
      });
      context.stdout.write(`the token ${id} is deleted\n`);
    });
}

function reaching(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(rootDirOption())
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'of the control plane (default: admin.kubeconfig in the root dir)',
      ).argParser(filePath),
    );
}

const outputOption = (...forms: string[]) =>
  new Option('-o, --output <form>', 'how the answer is written').choices(forms).default('text');

async function kubeconfigOf({ rootDir, kubeconfig }: Flags): Promise<Kubeconfig> {
  return await readKubeconfig(kubeconfig ?? join(resolve(rootDir), 'admin.kubeconfig'));
}

/** The secret of a token is of no use here, and told to nobody. */
function tokenId(text: string): string {
  const [id = ''] = text.split('.');
  if (/^[a-z0-9]{6}$/.test(id)) return id;
  throw new InvalidArgumentError('It must be the id of a token: six lower case letters and digits.');
}

function httpsUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text;
  throw new InvalidArgumentError('It must be an address like https://host:port.');
}
