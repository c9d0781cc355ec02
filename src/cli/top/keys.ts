/** A key that was pressed: one with a name, or a character. */
export type Key = NamedKey | { readonly character: string };
export type NamedKey =
  | 'up'
  | 'down'
  | 'pageUp'
  | 'pageDown'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'interrupt';

/** What terminals send after ESC for the keys that are used here. */
const sequences: Readonly<Record<string, NamedKey>> = {
  ...{ '[A': 'up', '[B': 'down', '[5~': 'pageUp', '[6~': 'pageDown' },
  ...{ '[H': 'home', '[F': 'end', '[1~': 'home', '[4~': 'end', '[7~': 'home', '[8~': 'end' },
  ...{ OA: 'up', OB: 'down', OH: 'home', OF: 'end' },
};

const controls: Readonly<Record<string, NamedKey>> = {
  ...{ '\r': 'enter', '\n': 'enter', '\u007f': 'backspace', '\b': 'backspace' },
  ...{ '\u0003': 'interrupt', '\u0004': 'interrupt' },
};

/** `ESC [ parameters final`, or `ESC O final`. */
const sequence = /^(?:\[[0-?]*[ -/]*[@-~]|O[@-~])/;
const begunSequence = /^(?:\[[0-?]*[ -/]*|O)$/;
const maxSequence = 32;

/** Reads keys from what a terminal sends. A sequence may come in pieces; ESC at the end of a piece is the key Escape. */
export class KeyReader {
  #rest = '';

  read(text: string): Key[] {
    const keys: Key[] = [];
    let rest = this.#rest + text;
    this.#rest = '';
    while (rest !== '') {
      const [character = ''] = rest;
      rest = rest.slice(character.length);
      if (character !== '\u001b') {
        keys.push(...keyOf(character));
        continue;
      }
      if (begunSequence.test(rest) && rest.length < maxSequence) {
        this.#rest = `\u001b${rest}`;
        return keys;
      }
      const found = sequence.exec(rest)?.[0];
      const key = found === undefined ? 'escape' : sequences[found];
      rest = rest.slice(found?.length ?? 0);
      if (key !== undefined) keys.push(key);
    }
    return keys;
  }
}

/** None for control characters that mean nothing here. */
function keyOf(character: string): Key[] {
  const named = controls[character];
  if (named !== undefined) return [named];
  return /\p{Cc}/u.test(character) ? [] : [{ character }];
}
