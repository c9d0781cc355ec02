/** The state of a process that a test file could leave changed for those after it. */

type State = ReadonlyMap<string, unknown>;

/** Objects of the language whose functions tests replace. */
const watchedObjects = { Date, Math, JSON, console } as const;

const handlerPrefix = 'handlers of the process for ';

let last = stateNow();

/**
 * What is different from the last time this was called, or from the start. New global objects are no difference:
 * packages define them when they are loaded, and files that do not know them are not disturbed.
 */
export function whatChanged(): string[] {
  const [before, now] = [last, stateNow()];
  last = now;
  const names = new Set([...before.keys(), ...now.keys()]);
  const isNewGlobal = (name: string): boolean => name.startsWith('globalThis.') && !before.has(name);
  return [...names].filter((name) => !Object.is(before.get(name), now.get(name)) && !isNewGlobal(name));
}

/** Whether a change is one of handlers of the process. Packages add some when they are loaded, for good. */
export function isHandler(change: string): boolean {
  return change.startsWith(handlerPrefix);
}

function stateNow(): State {
  const state = new Map<string, unknown>([
    ['the working directory', process.cwd()],
    ['the umask', process.umask()],
    ['process.exitCode', process.exitCode],
  ]);
  for (const [name, value] of Object.entries(process.env)) state.set(`process.env.${name}`, value);
  for (const name of process.eventNames())
    state.set(`${handlerPrefix}${String(name)}`, process.listenerCount(name));
  for (const name of Object.getOwnPropertyNames(globalThis)) state.set(`globalThis.${name}`, globalOf(name));
  for (const [name, value] of Object.entries(watchedObjects)) {
    for (const key of Object.getOwnPropertyNames(value))
      state.set(`${name}.${key}`, Object.getOwnPropertyDescriptor(value, key)?.value);
  }
  return state;
}

/** Its value, or its getter where it has one: some of Node's own load modules when they are read. */
function globalOf(name: string): unknown {
  const found = Object.getOwnPropertyDescriptor(globalThis, name);
  return found?.get ?? found?.value;
}
