/**
 * The value of a variable in a file of lines `NAME='value'`, as in the reference: a part of what a shell reads. A value stands in
 * single quotes, in which every character means itself, also the end of a line; blank lines and comments are passed over. The
 * first line of that name counts, and nothing after it is read. Empty where there is no such variable. Throws an Error that
 * names the line and nothing of what is in it.
 */
export function readVariable(text: string, name: string): string {
  const lines = new Lines(text);
  for (let line = lines.next(); line !== undefined; line = lines.next()) {
    const trimmed = line.replace(/^[ \t]+/, '');
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [own, rest] = splitVariable(trimmed, lines.number);
    if (/^[ \t]/.test(rest)) {
      if (own === name) return ''; // for a shell, the value ends before a blank
      continue;
    }
    if (!rest.startsWith("'")) throw formatError(lines.number, 'value must be enclosed in single quotes');
    const value = readQuoted(rest.slice(1), lines);
    if (own === name) return value;
  }
  return '';
}

class Lines {
  readonly #lines: string[];
  #next = 0;

  constructor(text: string) {
    this.#lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
    if (this.#lines.at(-1) === '') this.#lines.pop();
  }

  /** Of the last line that was returned; the first is 1. */
  get number(): number {
    return this.#next;
  }

  next(): string | undefined {
    const line = this.#lines[this.#next];
    if (line !== undefined) this.#next += 1;
    return line;
  }
}

function splitVariable(line: string, number: number): [name: string, rest: string] {
  const at = line.indexOf('=');
  if (at < 0) throw formatError(number, "missing '='");
  const name = line.slice(0, at);
  if (name.trim() === '') throw formatError(number, 'empty variable name');
  if (/[ \t]$/.test(name)) throw formatError(number, "whitespace before '=' is not allowed");
  return [name, line.slice(at + 1)];
}

/** `first` follows the opening quote. */
function readQuoted(first: string, lines: Lines): string {
  const start = lines.number;
  const parts: string[] = [];
  for (let line: string | undefined = first; line !== undefined; line = lines.next()) {
    const end = line.indexOf("'");
    if (end < 0) {
      parts.push(line);
      continue;
    }
    const after = line.slice(end + 1).replace(/^[ \t]+/, '');
    if (after !== '' && !after.startsWith('#'))
      throw formatError(lines.number, 'unexpected content after closing quote');
    return [...parts, line.slice(0, end)].join('\n');
  }
  throw new Error(`invalid environment variable format starting at line ${start}: unclosed single quote`);
}

function formatError(line: number, what: string): Error {
  return new Error(`invalid environment variable format at line ${line}: ${what}`);
}
