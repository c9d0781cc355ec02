/**
 * Which file below src may import which. Imports go downwards only: through the layers of the house
 *
 *   main → cli → agent, apiserver → client → api → base        agent and apiserver never each other
 *   testing → apiserver, client, api, base                     and nothing imports testing
 *
 * and through the layers of rooms inside cli, agent, apiserver and api, which `layersOf` lists from top to bottom. Rooms
 * in one layer do not import each other, and a room that is in no layer is an error.
 *
 * A folder that has an index.ts is a module: from outside it is entered through that file only. A folder without one
 * belongs to the folder above it.
 */
import { dirname } from 'node:path/posix';
import type { Import, SourceFile } from './source-file.ts';

export interface Violation {
  path: string;
  line: number;
  message: string;
}

/** A file that stands directly in its folder, beside the rooms. */
const ownFiles = '';

/** From top to bottom. */
type Layers = readonly (readonly string[])[];

const layersOf: Readonly<Record<string, Layers>> = {
  src: [['main.ts', 'testing'], ['cli'], ['agent', 'apiserver'], ['client'], ['api'], ['base']],
  'src/cli': [
    [ownFiles],
    ['reference', 'status'],
    ['access', 'checkpoint', 'join', 'pods', 'seccomp', 'storage', 'token', 'top'],
    ['agent-client'],
    ['flags'],
    ['terminal'],
  ],
  'src/agent': [
    [ownFiles],
    ['assembly'],
    ['doctor'],
    ['config'],
    ['eviction', 'plugins'],
    ['checkpoint', 'pods'],
    ['containers'],
    ['images', 'probes', 'seccomp', 'volumes'],
    ['downward'],
    ['resources'],
    ['objects', 'tokens'],
    ['api-relay', 'server'],
    ['usage'],
    ['identity'],
    ['node'],
    ['lock', 'runtime', 'shutdown'],
  ],
  'src/apiserver': [
    [ownFiles],
    ['assembly'],
    ['leader-election', 'server-leases', 'storage-admin'],
    ['http', 'metrics-api'],
    ['access-answers', 'audit', 'handlers', 'node-proxy'],
    ['web-streams'],
    ['scheduler', 'workloads'],
    ['controllers', 'reviews'],
    ['authz'],
    ['registry'],
    ['authn', 'storage'],
    ['pki'],
  ],
  'src/api': [
    ['openapi'],
    [ownFiles],
    ['apply', 'codec', 'errors', 'placement', 'selectors', 'validation'],
    ['patch'],
    ['kinds'],
    ['json', 'names'],
    ['schema'],
  ],
};
/** What stands below it and is not for it all the same. */
const notFor: Readonly<Record<string, readonly string[]>> = { testing: ['cli', 'agent'] };

export interface House {
  /** The packages that production code may use. */
  dependencies: ReadonlySet<string>;
  /** The folders below src that have an index.ts. */
  modules: ReadonlySet<string>;
}

/** The violations of one file below `src`. */
export function checkFile(file: SourceFile, { dependencies, modules }: House): Violation[] {
  const unlisted = unlistedRoom(file.path);
  if (unlisted !== undefined) return [{ path: file.path, line: 1, message: unlisted }];
  return file.imports.flatMap((each) => {
    const message =
      each.target === undefined
        ? packageProblem(each.specifier, dependencies)
        : (outsideProblem(each) ??
          directionProblem(file.path, each.target) ??
          indexProblem(file.path, each.target, modules));
    return message === undefined ? [] : [{ path: file.path, line: each.line, message }];
  });
}

function packageProblem(specifier: string, dependencies: ReadonlySet<string>): string | undefined {
  if (specifier.startsWith('node:')) return undefined;
  const words = specifier.split('/');
  const name = words.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  return dependencies.has(name) ? undefined : `${name} is not among the dependencies of package.json`;
}

function outsideProblem({ target = '', specifier }: Import): string | undefined {
  return target.startsWith('src/') ? undefined : `${specifier} is outside src`;
}

function unlistedRoom(path: string): string | undefined {
  for (const [folder, layers] of Object.entries(layersOf)) {
    if (!path.startsWith(`${folder}/`)) continue;
    const room = roomOf(path, folder);
    if (rank(layers, room) === -1) return `${folder}/${room} is in no layer of scripts/imports/rules.ts`;
  }
  return undefined;
}

function directionProblem(path: string, target: string): string | undefined {
  for (const [folder, layers] of Object.entries(layersOf)) {
    if (!path.startsWith(`${folder}/`) || !target.startsWith(`${folder}/`)) continue;
    const from = roomOf(path, folder);
    const to = roomOf(target, folder);
    const allowed = from === to || rank(layers, from) < rank(layers, to);
    if (!allowed || notFor[from]?.includes(to)) {
      return `${roomName(folder, from)} must not import ${roomName(folder, to)}`;
    }
  }
  return undefined;
}

/** The folder directly below `folder` in which the file lies. Only below src a file can be a room by itself. */
function roomOf(path: string, folder: string): string {
  const [first = '', ...deeper] = path.slice(folder.length + 1).split('/');
  return deeper.length > 0 || folder === 'src' ? first : ownFiles;
}

function roomName(folder: string, room: string): string {
  const name = room === ownFiles ? folder : `${folder}/${room}`;
  return name.replace(/^src\//, '');
}

function rank(layers: Layers, room: string): number {
  return layers.findIndex((layer) => layer.includes(room));
}

/** A file inside a module may take the module's files directly. */
function indexProblem(path: string, target: string, modules: ReadonlySet<string>): string | undefined {
  let module = dirname(target);
  while (module !== '.' && !modules.has(module)) module = dirname(module);
  if (module === '.' || path.startsWith(`${module}/`) || target === `${module}/index.ts`) return undefined;
  return `${target} is reached past ${module}/index.ts`;
}
