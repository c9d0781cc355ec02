import assert from 'node:assert/strict';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kubectl } from '../../integration/lab/index.ts';
import type { CommandResult, SupervisedProcess } from '../../support/index.ts';
import { temporaryFolder } from '../../support/index.ts';
import type { ControlPlane } from '../control-plane/index.ts';
import type { Release } from './release.ts';

/** What is typed behind `kubectl`: words with spaces between them, or a list where a word has a space itself. */
export type Line = string | readonly string[];

/** Standard input: text as it is, anything else as JSON. */
export type Input = string | object;

/**
 * A person at a prompt: a kubectl, an empty home folder and an empty namespace, which is the default one. Disposal
 * removes the folder.
 */
export interface Shell extends AsyncDisposable {
  readonly namespace: string;
  run(line: Line, input?: Input): Promise<CommandResult>;
  /** Must succeed; answers standard output. */
  ok(line: Line, input?: Input): Promise<string>;
  /** Must fail; answers standard error. */
  fails(line: Line, input?: Input): Promise<string>;
  /** `get` of one object or a list, parsed. */
  get(line: Line): Promise<unknown>;
  /** Starts one that runs on. */
  start(line: Line): Promise<SupervisedProcess>;
  /** Writes a file into the home folder and answers its path. */
  file(name: string, content: Input): Promise<string>;
}

export type OpenShell = () => Promise<Shell>;

export async function openShell({ kubeconfig }: ControlPlane, release: Release): Promise<Shell> {
  await using setup = new AsyncDisposableStack();
  const { path: home } = setup.use(await temporaryFolder('shell-'));
  const own = join(home, 'kubeconfig');
  await copyFile(kubeconfig, own);
  const tool = kubectl(own, home, release.program());
  const namespace = `shell-${crypto.randomUUID().slice(0, 8)}`;
  const run: Shell['run'] = (line, input) =>
    tool.run(words(line), input === undefined ? {} : { input: text(input) });
  const ok: Shell['ok'] = async (line, input) => {
    const result = await run(line, input);
    assert.equal(result.code, 0, described(line, result));
    return result.stdout;
  };
  await ok(`create namespace ${namespace}`);
  await ok(`config set-context --current --namespace=${namespace}`);
  const resources = setup.move();
  return {
    namespace,
    run,
    ok,
    fails: async (line, input) => {
      const result = await run(line, input);
      assert.ok(result.code !== 0 && !result.timedOut, `succeeded or hung: ${described(line, result)}`);
      return result.stderr;
    },
    get: async (line) => JSON.parse(await ok(['get', ...words(line), '--output=json'])),
    start: (line) => tool.start(words(line)),
    file: async (name, content) => {
      await writeFile(join(home, name), text(content));
      return join(home, name);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function words(line: Line): readonly string[] {
  return typeof line === 'string' ? line.split(' ') : line;
}

function text(input: Input): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

function described(line: Line, { code, timedOut, stdout, stderr }: CommandResult): string {
  const how = timedOut ? 'took too long' : `ended with ${code}`;
  return `kubectl ${words(line).join(' ')}: ${how}\n${stdout}${stderr}`;
}
