import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

// Loaded before a program (`node --import`): writes down what the program has loaded when it ends.

const folder = process.env['LOADED_FOLDER'];

/** What a process has loaded by its end. */
export interface Loaded {
  readonly args: readonly string[];
  /** URLs. */
  readonly files: readonly string[];
  /** Node's own modules, as `NativeModule NAME`, and its bindings. */
  readonly builtins: readonly string[];
}

if (folder !== undefined && isMainThread) {
  const files: string[] = [];
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) files.push(url);
      return next(url, context);
    },
  });
  process.on('exit', () => {
    const builtins: unknown = Reflect.get(process, 'moduleLoadList');
    writeFileSync(
      join(folder, `${process.pid}.json`),
      JSON.stringify({ args: process.argv, files, builtins }),
    );
  });
}
