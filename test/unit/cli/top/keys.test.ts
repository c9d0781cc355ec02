import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Key } from '../../../../src/cli/top/keys.ts';
import { KeyReader } from '../../../../src/cli/top/keys.ts';
import type { View } from '../../../../src/cli/top/view.ts';
import { press } from '../../../../src/cli/top/view.ts';
import { view } from './samples.ts';

const extent = { rows: 30, page: 10 };
const esc = '\u001b';

/** The view after all these keys; undefined: it has quit. */
function after(text: string, from: View = view): View | undefined {
  const keys = new KeyReader().read(text);
  return keys.reduce((at: View | undefined, key: Key) => at && press(at, key, extent), from);
}

describe('keys', () => {
  test('are read from what terminals send, also in pieces', () => {
    const reader = new KeyReader();
    assert.deepEqual(reader.read(`q${esc}[A${esc}OB${esc}[5~${esc}[6~${esc}[H${esc}[4~\r\u007f\u0003`), [
      ...[{ character: 'q' }, 'up', 'down', 'pageUp', 'pageDown', 'home', 'end'],
      ...['enter', 'backspace', 'interrupt'],
    ]);
    assert.deepEqual(reader.read(`${esc}[`), []);
    assert.deepEqual(reader.read('6'), []);
    assert.deepEqual(reader.read('~x'), ['pageDown', { character: 'x' }]);
    assert.deepEqual(reader.read(esc), ['escape']);
    assert.deepEqual(reader.read(`${esc}q`), ['escape', { character: 'q' }]);
  });

  test('that mean nothing do nothing, and a sequence that never ends does not keep those after it', () => {
    const reader = new KeyReader();
    assert.deepEqual(reader.read(`${esc}[200~${esc}[1;5C\u0001\u0000`), []);
    assert.deepEqual(reader.read(`${esc}[${'1;'.repeat(100)}`)[0], 'escape');
    assert.deepEqual(reader.read('q').at(-1), { character: 'q' });
  });
});

describe('the view', () => {
  test('q and Ctrl-C quit, the latter while a filter is typed, too', () => {
    assert.equal(after('q'), undefined);
    assert.equal(after('\u0003'), undefined);
    assert.equal(after('/q')?.filter, 'q');
    assert.equal(after('/q\u0003'), undefined);
  });

  test('c, m, d, n sort, from the first row on', () => {
    const scrolled = { ...view, first: 7 };
    for (const [key, sort] of Object.entries({ c: 'cpu', m: 'memory', d: 'disk', n: 'name' }))
      assert.deepEqual(after(key, scrolled), { ...view, sort });
  });

  test('p shows containers and hides them, space pauses and goes on', () => {
    assert.deepEqual(after('p'), { ...view, containers: true });
    assert.deepEqual(after('pp'), view);
    assert.deepEqual(after(' '), { ...view, isPaused: true });
    assert.deepEqual(after('  '), view);
  });

  test('scrolls by rows and pages, never beyond what there is', () => {
    assert.equal(after(`${esc}[B${esc}[B${esc}[A`)?.first, 1);
    assert.equal(after(`${esc}[A`)?.first, 0);
    assert.equal(after(`${esc}[6~`)?.first, 10);
    assert.equal(after(`${esc}[6~${esc}[6~${esc}[6~`)?.first, 20);
    assert.equal(after(`${esc}[F`)?.first, 20);
    assert.equal(after(`${esc}[F${esc}[5~`)?.first, 10);
    assert.equal(after(`${esc}[F${esc}[H`)?.first, 0);
    assert.equal(after(`${esc}[A`, { ...view, first: 99 })?.first, 19, 'pods have gone');
  });

  test('/ filters: Enter keeps it, Escape drops it, and every key is a character of it meanwhile', () => {
    assert.deepEqual(after('/we b'), { ...view, filter: 'we b', isTyping: true });
    assert.deepEqual(after('/web\u007f'), { ...view, filter: 'we', isTyping: true });
    assert.deepEqual(after('/web\r'), { ...view, filter: 'web' });
    assert.deepEqual(after('/web\rc'), { ...view, filter: 'web', sort: 'cpu' });
    assert.deepEqual(after(`/web${esc}`), view);
    assert.deepEqual(after(`/web\r${esc}`), view);
    assert.equal(after(`/${'x'.repeat(200)}`)?.filter.length, 64);
  });
});
