import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TemporaryFolder } from '../../../support/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

export const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** A folder with files by their names, removed on disposal. A text without apiVersion gets the usual two lines before it. */
export async function configFiles(contents: Readonly<Record<string, string>>): Promise<TemporaryFolder> {
  const folder = await temporaryFolder('config-');
  for (const [name, content] of Object.entries(contents)) await writeConfig(join(folder.path, name), content);
  return folder;
}

export async function writeConfig(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, /^\{|apiVersion/.test(content) ? content : `${head}${content}`);
}
