import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { kubectl } from '../../integration/lab/index.ts';
import type { CommandResult, SupervisedProcess } from '../../support/index.ts';
import { temporaryFolder } from '../../support/index.ts';
import type { ControlPlane } from '../control-plane/index.ts';
import type { Release } from './release.ts';

/** What is typed behind `kubectl`: words with spaces between them, or a list where a word has a space itself. */
export type Line = string | readonly string[];

/** Standard input: text as it is, anything else as JSON. */
export type Input = string | object;

/** Variables of the environment, beside the usual ones. */
export type Environment = Readonly<Record<string, string>>;

/**
 * A person at a prompt: a kubectl, an empty home folder and an empty namespace, which is the default one. Disposal
 * removes the folder.
 */
export interface Shell extends AsyncDisposable {
  readonly namespace: string;
  run(line: Line, input?: Input, env?: Environment): Promise<CommandResult>;
  /** Must succeed; answers standard output. */
  ok(line: Line, input?: Input, env?: Environment): Promise<string>;
  /** Must fail; answers standard error. */
  fails(line: Line, input?: Input, env?: Environment): Promise<string>;
  /** Makes the editor one that carries out a command of sed; the files that are edited are in the home folder. */
  editor(sed: string): Promise<Environment>;
  /** `get` of one object or a list, parsed. */
  get(line: Line): Promise<unknown>;
  /** A map or a list out of an object, by its jsonpath: `pick('configmap one', '.data')`; undefined where nothing is. */
  pick(what: string, path: string): Promise<unknown>;
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
  const namespace = `shell-${crypto.randomUUID().slice(0, 8)}`;
  await writeFile(own, withNamespace(await readFile(kubeconfig, 'utf8'), namespace));
  const tool = kubectl(own, home, release.program());
  const run: Shell['run'] = (line, input, env = {}) =>
    tool.run(words(line), { env, ...(input === undefined ? {} : { input: text(input) }) });
  const ok: Shell['ok'] = async (line, input, env) => {
    const result = await run(line, input, env);
    assert.equal(result.code, 0, described(line, result));
    return result.stdout;
  };
  await ok(`create namespace ${namespace}`);
  const resources = setup.move();
  return {
    namespace,
    run,
    ok,
    fails: async (line, input, env) => {
      const result = await run(line, input, env);
      assert.ok(result.code !== 0 && !result.timedOut, `succeeded or hung: ${described(line, result)}`);
      return result.stderr;
    },
    editor: async (sed) => {
      await writeFile(join(home, 'editor.sed'), sed);
      return { KUBE_EDITOR: `sed --in-place --file=${join(home, 'editor.sed')}`, TMPDIR: home };
    },
    get: async (line) => JSON.parse(await ok(['get', ...words(line), '--output=json'])),
    pick: async (what, path) => {
      const found = await ok(`get ${what} -o jsonpath={${path}}`);
      return found === '' ? undefined : JSON.parse(found);
    },
    start: (line) => tool.start(words(line)),
    file: async (name, content) => {
      await writeFile(join(home, name), text(content));
      return join(home, name);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** What `config set-context --current --namespace` makes of a kubeconfig, without a process for it. */
function withNamespace(kubeconfig: string, namespace: string): string {
  const document = parseDocument(kubeconfig);
  document.setIn(['contexts', 0, 'context', 'namespace'], namespace);
  return document.toString();
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
