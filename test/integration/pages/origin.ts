import { appendFile, cp, mkdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { runSuccessfully } from '../../support/index.ts';
import { repository } from '../lab/index.ts';

/** The version that checkouts of the origin begin with. */
export const firstVersion = 'first';

/** What .gitignore names, and the history. */
const left = /^(\.git|node_modules|dist(\.new.*)?|coverage|\.cache|\.nodeward|.*\.tsbuildinfo)$/;

/** This repository as it is now, in a repository of its own with two versions: the second has a change that is new to those who have the first. */
export async function makeOrigin(folder: string): Promise<void> {
  await mkdir(folder);
  const filter = (path: string): boolean => relative(repository, path) === '' || !left.test(basename(path));
  await cp(repository, folder, { recursive: true, filter });
  await git(folder, 'init', '--quiet', '--initial-branch=main');
  await commit(folder, 'first version');
  await git(folder, 'tag', firstVersion);
  await appendFile(join(folder, 'CHANGELOG.md'), '\nA change of the second version.\n');
  await commit(folder, 'second version');
}

/** A clone with the first version, which will find its origin at `url`. */
export async function cloneOrigin(origin: string, into: string, url: string): Promise<void> {
  await git('/', 'clone', '--quiet', '--no-hardlinks', origin, into);
  await git(into, 'reset', '--quiet', '--hard', firstVersion);
  await git(into, 'remote', 'set-url', 'origin', url);
}

async function commit(folder: string, message: string): Promise<void> {
  await git(folder, 'add', '--all');
  const author = ['-c', 'user.name=pages', '-c', 'user.email=pages@localhost'];
  await git(folder, ...author, 'commit', '--quiet', '--message', message);
}

async function git(folder: string, ...argv: string[]): Promise<void> {
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  await runSuccessfully('git', ['-C', folder, ...argv], { env });
}
