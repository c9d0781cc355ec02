import { existsSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';

/** A relative link of a page that leads nowhere. */
export interface BrokenLink {
  page: string;
  link: string;
}

/** All pages below a folder that a reader can open: its Markdown files and those of `docs`. */
export async function pagesOf(root: string): Promise<string[]> {
  const top = (await readdir(root)).filter((name) => name.endsWith('.md'));
  const below = await readdir(join(root, 'docs'), { recursive: true });
  const docs = below.filter((name) => name.endsWith('.md')).map((name) => join('docs', name));
  return [...top, ...docs].sort();
}

/** The targets of the relative links in a page, without what is inside code. */
export function linksIn(text: string): string[] {
  const prose = text.replaceAll(/^```.*?^```/gms, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** The anchors that a page has: one for each heading, as GitHub derives them; a heading that repeats gets a number. */
export function anchorsIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of text.replaceAll(/^```.*?^```/gms, '').matchAll(/^#+ +(.+)$/gm)) {
    const plain = heading.replaceAll(/\]\([^)]*\)/g, ']').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    let unique = anchor;
    for (let again = 1; found.has(unique); again++) unique = `${anchor}-${again}`;
    found.add(unique);
  }
  return found;
}

/** Every relative link below `root` whose file, or whose heading, is not there or is outside of it. */
export async function brokenLinks(root: string): Promise<BrokenLink[]> {
  const broken: BrokenLink[] = [];
  for (const page of await pagesOf(root)) {
    for (const link of linksIn(await readFile(join(root, page), 'utf8'))) {
      if (!(await leadsSomewhere(root, page, link))) broken.push({ page, link });
    }
  }
  return broken;
}

async function leadsSomewhere(root: string, page: string, link: string): Promise<boolean> {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(root, page) : resolve(root, dirname(page), path);
  if (relative(root, target).startsWith('..') || !existsSync(target)) return false;
  if (anchor === undefined) return true;
  if (statSync(target).isDirectory() || !target.endsWith('.md')) return false;
  return anchorsIn(await readFile(target, 'utf8')).has(anchor);
}

/** The pages that no chain of links from `start` leads to. */
export async function unreachablePages(root: string, start: string): Promise<string[]> {
  const reached = new Set<string>();
  const waiting = [start];
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    if (reached.has(page) || !page.endsWith('.md')) continue;
    reached.add(page);
    for (const link of linksIn(await readFile(join(root, page), 'utf8'))) {
      const [path = ''] = link.split('#');
      if (path !== '') waiting.push(relative(root, resolve(root, dirname(page), path)));
    }
  }
  return (await pagesOf(root)).filter((page) => !reached.has(page));
}
