import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { version } from '../../src/api/index.ts';
import { renderCompletion, renderManPages } from '../../src/cli/reference/index.ts';
import { commandTree } from '../generate/commands.ts';

/** Writes the man pages and the completion of shells below `folder`, in the places that they have below PREFIX/share. */
export async function writeCommandFiles(folder: string): Promise<void> {
  const tree = commandTree();
  const pages = [...renderManPages(tree, version.nodeward)].map(([name, text]) => [`man/man1/${name}`, text]);
  const files = [
    ...pages,
    ['bash-completion/completions/nodeward', renderCompletion('bash', tree)],
    ['zsh/site-functions/_nodeward', renderCompletion('zsh', tree)],
    ['zsh/vendor-completions/_nodeward', renderCompletion('zsh', tree)], // where Debian's zsh looks
    ['fish/vendor_completions.d/nodeward.fish', renderCompletion('fish', tree)],
  ];
  for (const [name = '', text = ''] of files) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
