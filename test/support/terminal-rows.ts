const escapeCode = '\u001b';

/**
 * What a terminal shows of what a program writes: as much of xterm as the commands use. A sequence that it does not know is an
 * error, so that a test finds what it would not look at.
 */
export class TerminalRows {
  columns: number;
  /** The other screen, which programs take that use all of it, is the one to be seen. */
  isAlternate = false;
  isCursorVisible = true;
  /** What is too long goes on in the next row. */
  wraps = true;
  #rows: string[];
  #usual: string[] = [];
  #row = 0;
  #column = 0;
  #rest = '';

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.#rows = Array.from({ length: rows }, () => '');
  }

  /** Without the spaces at their ends. */
  get rows(): string[] {
    return this.#rows.map((row) => row.trimEnd());
  }

  /** As most terminals do it: rows are cut, and what is new is empty. */
  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.#rows = Array.from({ length: rows }, (_, index) => (this.#rows[index] ?? '').slice(0, columns));
  }

  write(text: string): void {
    let rest = this.#rest + text;
    this.#rest = '';
    while (rest !== '') {
      const isEscape = rest.startsWith(escapeCode);
      const control = isEscape ? /^\[([?\d;]*)([A-Za-z])/.exec(rest.slice(1)) : null;
      if (isEscape && control === null && /^(?:\[[?\d;]*)?$/.test(rest.slice(1))) {
        this.#rest = rest; // the others come with what is written next
        return;
      }
      if (control === null) this.#put(rest[0] ?? '');
      else this.#control(control[1] ?? '', control[2] ?? '');
      rest = rest.slice(1 + (control?.[0].length ?? 0));
    }
  }

  #put(character: string): void {
    if (character === escapeCode) throw new Error('the terminal does not know this sequence');
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#feed();
    else if (character >= ' ') this.#print(character);
  }

  #feed(): void {
    if (this.#row < this.#rows.length - 1) this.#row += 1;
    else this.#rows = [...this.#rows.slice(1), ''];
  }

  #print(character: string): void {
    if (this.#column >= this.columns) {
      if (this.wraps) {
        this.#column = 0;
        this.#feed();
      } else this.#column = this.columns - 1;
    }
    const row = (this.#rows[this.#row] ?? '').padEnd(this.#column);
    this.#rows[this.#row] = row.slice(0, this.#column) + character + row.slice(this.#column + 1);
    this.#column += 1;
  }

  #control(parameters: string, final: string): void {
    const known = `${parameters}${final}`;
    if (final === 'm') return;
    if (final === 'H') {
      const [row = 1, column = 1] = parameters.split(';').map(Number);
      [this.#row, this.#column] = [row - 1, column - 1];
    } else if (known === 'K') {
      // the cursor stands on the last column after a character was written there
      const from = Math.min(this.#column, this.columns - 1);
      this.#rows[this.#row] = (this.#rows[this.#row] ?? '').slice(0, from);
    } else if (known === '2J') this.#rows = this.#rows.map(() => '');
    else if (/^\?(?:1049|25|7)[hl]$/.test(known)) this.#setMode(parameters, final === 'h');
    else throw new Error(`the terminal does not know the sequence ${known}`);
  }

  #setMode(mode: string, isSet: boolean): void {
    if (mode === '?25') this.isCursorVisible = isSet;
    else if (mode === '?7') this.wraps = isSet;
    else if (isSet !== this.isAlternate) {
      this.isAlternate = isSet;
      const blank = this.#rows.map(() => '');
      [this.#rows, this.#usual] = isSet ? [blank, this.#rows] : [this.#usual, []];
    }
  }
}
