import { Command, InvalidArgumentError, Option } from 'commander';
import { checkName, writeYaml } from '../../api/index.ts';
import { describeError, ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import type { CommandContext } from '../context.ts';
import { filePath, rootDirOption } from '../flags/flags.ts';
import type { ServerFlags } from './client.ts';
import { accessClient } from './client.ts';
import { harmless } from './report.ts';

/** A command that asks the server something about access, and may print the answer as it is. */
export function asking(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(rootDirOption())
    .addOption(
      new Option(
        '--kubeconfig <file>',
        "whose credentials to use (default: the administrator's in the root dir)",
      ).argParser(filePath),
    )
    .addOption(
      new Option('-o, --output <form>', 'how the answer is written')
        .choices(['text', 'json', 'yaml'])
        .default('text'),
    );
}

/** The name of a namespace, as an argument. */
export function namespaceName(text: string): string {
  const wrong = checkName('label', text);
  if (wrong === undefined) return text;
  throw new InvalidArgumentError(`It must be the name of a namespace: ${wrong}.`);
}

export async function withServer<T>(flags: ServerFlags, work: (client: ApiClient) => Promise<T>): Promise<T> {
  await using client = await accessClient(flags);
  return await work(client);
}

/** For commands whose code 1 is an answer: what kept them from one ends with another code. */
export function withOwnCode(error: unknown): unknown {
  if (error instanceof ExitError && error.exitCode !== exitCodes.failed) return error;
  return new ExitError(exitCodes.usage, describeError(error), { cause: error });
}

/** What there is to say beside the answer. */
export function note(context: CommandContext, notes: readonly string[] = []): void {
  for (const text of notes) context.stderr.write(`note: ${harmless(text)}\n`);
}

/** The answer, for people or as it is for programs. */
export function tell(
  context: CommandContext,
  { output }: { output: 'text' | 'json' | 'yaml' },
  answer: object,
  text: () => string,
): void {
  if (output === 'text') context.stdout.write(text());
  else context.stdout.write(output === 'yaml' ? writeYaml(answer) : `${JSON.stringify(answer, null, 2)}\n`);
}
