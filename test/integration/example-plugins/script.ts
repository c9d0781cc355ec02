import { join } from 'node:path';
import { repository } from '../lab/folder.ts';

/**
 * The environment for scripts of this folder. They load sources, and a test starts dozens of them: with what Node.js has
 * compiled before they need half the time of a processor until they serve.
 */
export function scriptEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_COMPILE_CACHE: join(repository, '.cache/compile') };
}
