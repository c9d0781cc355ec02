/**
 * Which file below src may import which: downwards only,
 *
 *   main → cli → agent, apiserver → client → api → base        agent and apiserver never each other
 *   testing → apiserver, client, api, base                     and nothing imports testing
 *   within apiserver: http → handlers → registry → storage
 *
 * and from outside a module only through its index.ts. A module is one of the folders cli, testing, agent,
 * apiserver, client, api, base, or a folder directly below one of them.
 */
import { dirname } from 'node:path/posix';
import type { Import, SourceFile } from './source-file.ts';

export interface Violation {
  path: string;
  line: number;
  message: string;
}

const layers: readonly (readonly string[])[] = [
  ['main.ts', 'testing'],
  ['cli'],
  ['agent', 'apiserver'],
  ['client'],
  ['api'],
  ['base'],
];
/** What stands below it and is not for it all the same. */
const notFor: Readonly<Record<string, readonly string[]>> = { testing: ['cli', 'agent'] };
const apiserverLayers: readonly (readonly string[])[] = [['http'], ['handlers'], ['registry'], ['storage']];

/** The violations of one file below `src`. `dependencies` are the packages that production code may use. */
export function checkFile(file: SourceFile, dependencies: ReadonlySet<string>): Violation[] {
  return file.imports.flatMap((each) => {
    const message =
      each.target === undefined
        ? packageProblem(each.specifier, dependencies)
        : (outsideProblem(each) ??
          directionProblem(file.path, each.target) ??
          indexProblem(file.path, each.target));
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

function directionProblem(path: string, target: string): string | undefined {
  const [, from = '', ...fromRest] = path.split('/');
  const [, to = '', ...toRest] = target.split('/');
  if (notFor[from]?.includes(to)) return `${from} must not import ${to}`;
  if (from !== to) return upwards(layers, from, to);
  if (from !== 'apiserver') return undefined;
  return upwards(apiserverLayers, fromRest[0] ?? '', toRest[0] ?? '', 'apiserver/');
}

/** Names that stand in no layer are free. */
function upwards(
  order: readonly (readonly string[])[],
  from: string,
  to: string,
  prefix = '',
): string | undefined {
  const rank = (name: string): number => order.findIndex((layer) => layer.includes(name));
  if (from === to || rank(from) === -1 || rank(to) === -1 || rank(from) < rank(to)) return undefined;
  return `${prefix}${from} must not import ${prefix}${to}`;
}

/** A file that lies below the module's folder is inside it and may take its files directly. */
function indexProblem(path: string, target: string): string | undefined {
  const module = moduleOf(target);
  if (module === undefined || path.startsWith(`${module}/`) || target === `${module}/index.ts`)
    return undefined;
  return `${target} is reached past ${module}/index.ts`;
}

function moduleOf(path: string): string | undefined {
  const folders = dirname(path).split('/').slice(0, 3);
  return folders.length > 1 ? folders.join('/') : undefined;
}
