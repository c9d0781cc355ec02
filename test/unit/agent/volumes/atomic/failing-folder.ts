import { Folder } from '../../../../../src/agent/volumes/folder.ts';

export interface Failure {
  /** Only this method fails, and only that often; otherwise everything from that step on, as for a process that is killed. */
  readonly only?: string;
  readonly code?: string;
}

/**
 * The folder, and all that are opened through it, until `step` changes were made in them: from then on each one fails. Reading
 * goes on.
 */
export function failingAt(
  folder: Folder,
  step: number,
  { only, code = 'EIO' }: Failure = {},
): { folder: Folder } {
  const changes = ['make', 'makeFile', 'writeFile', 'makeLink', 'unlink', 'rmdir', 'moveTo', 'setAccess'];
  const inner = new WeakMap<object, Folder>();
  let done = 0;
  const wrap = (target: Folder): Folder => {
    const proxy = new Proxy(target, {
      get(_, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          const name = String(key);
          const counts = only === undefined ? changes.includes(name) : name === only;
          if (counts && (only === undefined ? done++ >= step : done++ === step))
            return Promise.reject(Object.assign(new Error(`${code}: ${name}`), { code }));
          const plain = args.map((each) => (each instanceof Object ? (inner.get(each) ?? each) : each));
          const result: unknown = Reflect.apply(value, target, plain);
          if (!(result instanceof Promise)) return result;
          return result.then((made: unknown) => (made instanceof Folder ? wrap(made) : made));
        };
      },
    });
    inner.set(proxy, target);
    return proxy;
  };
  return { folder: wrap(folder) };
}
