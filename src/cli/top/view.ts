import type { SortKey } from './choice.ts';
import type { Key } from './keys.ts';

/** What the user has chosen to look at. */
export interface View {
  readonly sort: SortKey;
  readonly containers: boolean;
  /** The first row of the table that is on the screen. */
  readonly first: number;
  /** Only pods whose name has it in it. */
  readonly filter: string;
  /** The filter is being typed. */
  readonly isTyping: boolean;
  readonly isPaused: boolean;
}

/** How many rows there are, and how many of them the screen has room for. */
export interface Extent {
  readonly rows: number;
  readonly page: number;
}

const maxFilter = 64;

const sortsOf: Readonly<Record<string, SortKey>> = { c: 'cpu', m: 'memory', d: 'disk', n: 'name' };

/** The first row so that as many are on the screen as fit. */
export const firstWithin = (first: number, { rows, page }: Extent): number =>
  Math.max(0, Math.min(first, rows - page));

/** What a key changes; undefined: it quits. */
export function press(view: View, key: Key, extent: Extent): View | undefined {
  if (key === 'interrupt') return undefined;
  if (view.isTyping && (typeof key === 'object' || !isMove(key))) return type(view, key);
  if (typeof key === 'object') return pressCharacter(view, key.character);
  if (key === 'escape') return { ...view, filter: '', first: 0 };
  return { ...view, first: move(firstWithin(view.first, extent), key, extent) };
}

const isMove = (key: Key): boolean => typeof key === 'string' && /^(?:up|down|page|home|end)/.test(key);

function pressCharacter(view: View, character: string): View | undefined {
  const sort = sortsOf[character];
  if (sort !== undefined) return { ...view, sort, first: 0 };
  if (character === 'q') return undefined;
  if (character === 'p') return { ...view, containers: !view.containers, first: 0 };
  if (character === ' ') return { ...view, isPaused: !view.isPaused };
  if (character === '/') return { ...view, isTyping: true };
  return view;
}

function type(view: View, key: Key): View {
  if (typeof key === 'object') {
    const filter = `${view.filter}${key.character}`;
    return filter.length > maxFilter ? view : { ...view, filter, first: 0 };
  }
  if (key === 'backspace') return { ...view, filter: view.filter.slice(0, -1), first: 0 };
  if (key === 'enter') return { ...view, isTyping: false };
  return { ...view, filter: '', isTyping: false, first: 0 }; // escape
}

function move(first: number, key: Key, extent: Extent): number {
  const steps: Partial<Record<string, number>> = {
    ...{ up: -1, down: 1, pageUp: -extent.page, pageDown: extent.page },
    ...{ home: -extent.rows, end: extent.rows },
  };
  return firstWithin(first + ((typeof key === 'string' ? steps[key] : undefined) ?? 0), extent);
}
