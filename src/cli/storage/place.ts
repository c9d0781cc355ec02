import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** Where a store is, as a migration is told. */
export type Place =
  | { readonly kind: 'sqlite'; readonly rootDir: string }
  | { readonly kind: 'etcd'; readonly servers: string[] };

/** `sqlite:ROOTDIR` or `etcd:URL,URL`. What is no address is told without repeating it: a password may stand in it. */
export function place(text: string): Place {
  const [, kind, rest = ''] = /^(sqlite|etcd):(.+)$/.exec(text) ?? [];
  if (kind === 'sqlite') return { kind, rootDir: resolve(rest) };
  if (kind === 'etcd') return { kind, servers: [...new Set(rest.split(',').map((server) => server.trim()))] };
  throw new InvalidArgumentError('It must be sqlite:ROOTDIR or etcd:URL,URL.');
}

export function nameOf(rootDir: string): string {
  return `sqlite:${rootDir}`;
}
