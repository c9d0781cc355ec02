import { Transform } from 'node:stream';

/*
 * Links of a page, in HTML: those to paths of the pod are made links to the same paths as the caller has to ask for them, as the
 * reference's proxy does. The page goes through as it comes: what is kept of it is the start of one name or one link. It is read
 * by the rules of HTML for its tags (13.2.5), one character for each byte, so in every encoding that has ASCII's characters.
 */

/** Attributes that are links, of their elements. */
const links: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
};
/** What is between their tags is text, whatever it looks like. */
const withText = ['iframe', 'noembed', 'noframes', 'script', 'style', 'textarea', 'title', 'xmp'];
/** Of elements and attributes; a longer one is none of the above. */
const maxNameLength = 32;
const maxBlanks = 32;

/** Where the pod's paths are: its own origin, without a path, and their prefix for the caller. */
export interface Moved {
  readonly origin: string;
  readonly prefix: string;
}

/** Passes a page on with its links moved. */
export function createLinkRewriter(moved: Moved): Transform {
  const page = new Page(moved);
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      done(null, Buffer.from(page.read(piece.toString('latin1'), false), 'latin1'));
    },
    flush(done) {
      done(null, Buffer.from(page.read('', true), 'latin1'));
    },
  });
}

/** What comes next of a page, or of one tag. */
type Place =
  | 'text'
  | 'comment'
  | 'declaration'
  | 'attributes'
  | 'attribute name'
  | 'equals sign'
  | 'quote'
  | 'link'
  | 'value';

/** How much of the text was taken, and what stands for it; undefined: more has to come first. */
type Step = { readonly taken: number; readonly out?: string } | undefined;

class Page {
  readonly #moved: Moved;
  /** The longest start of a link by which it is known what becomes of it. */
  readonly #maxStart: number;
  #place: Place = 'text';
  #rest = '';
  /** The element whose tag this is; empty at the end of one. */
  #element = '';
  /** The element whose text this is. */
  #textOf = '';
  #attribute = '';
  /** Empty: the value ends with a blank or the tag. */
  #quote = '';
  #isLast = false;

  constructor(moved: Moved) {
    this.#moved = moved;
    this.#maxStart = maxBlanks + Math.max(moved.origin.length, moved.prefix.length) + 1;
  }

  read(piece: string, isLast: boolean): string {
    const text = this.#rest + piece;
    this.#isLast = isLast;
    const out: string[] = [];
    let at = 0;
    while (at < text.length) {
      const step = this.#step(text, at);
      if (step === undefined) break;
      out.push(step.out ?? text.slice(at, at + step.taken));
      at += step.taken;
    }
    this.#rest = isLast ? '' : text.slice(at);
    if (isLast) out.push(text.slice(at));
    return out.join('');
  }

  #step(text: string, at: number): Step {
    switch (this.#place) {
      case 'text':
        return this.#textOf === '' ? this.#readText(text, at) : this.#readTextOf(text, at);
      case 'comment':
        return this.#skipBehind(text, at, '-->');
      case 'declaration':
        return this.#skipBehind(text, at, '>');
      case 'attributes':
        return this.#readAttributes(text, at);
      case 'attribute name':
        return this.#readAttributeName(text, at);
      case 'equals sign':
        return this.#readEqualsSign(text, at);
      case 'quote':
        return this.#readQuote(text, at);
      case 'link':
        return this.#readLink(text, at);
      case 'value':
        return this.#readValue(text, at);
    }
  }

  #readText(text: string, at: number): Step {
    const tag = text.indexOf('<', at);
    if (tag > at) return { taken: tag - at };
    if (tag < 0) return { taken: text.length - at };
    const start = text.slice(at, at + maxNameLength + 2);
    if (start.startsWith('<!--')) return this.#go('comment', 4);
    if ('<!--'.startsWith(start)) return undefined;
    if (/^<(?:[!?]|\/[^A-Za-z])/.test(start)) return this.#go('declaration', 2);
    const [whole, slash = '', name = ''] = /^<(\/?)([A-Za-z][^\t\n\f\r />]*)/.exec(start) ?? [];
    if (whole === undefined) return start === '</' ? undefined : { taken: 1 };
    if (whole.length === text.length - at) return undefined; // the name may go on
    this.#element = slash === '' ? name.toLowerCase() : '';
    return this.#go('attributes', whole.length);
  }

  /** As far as the end tag of the element. */
  #readTextOf(text: string, at: number): Step {
    const tag = text.indexOf('<', at);
    if (tag > at) return { taken: tag - at };
    if (tag < 0) return { taken: text.length - at };
    const end = `</${this.#textOf}`;
    const found = text.slice(at, at + end.length + 1).toLowerCase();
    if (end.startsWith(found)) return undefined;
    if (found.startsWith(end) && /[\t\n\f\r />]$/.test(found)) this.#textOf = '';
    return this.#textOf === '' ? { taken: 0 } : { taken: 1 };
  }

  /** All but the end that may begin what is looked for. */
  #skipBehind(text: string, at: number, end: string): Step {
    const found = text.indexOf(end, at);
    if (found >= 0) return this.#go('text', found + end.length - at);
    const taken = text.length - at - (end.length - 1);
    return taken > 0 ? { taken } : undefined;
  }

  #readAttributes(text: string, at: number): Step {
    const blanks = lengthOf(/[\t\n\f\r /]*/y, text, at);
    if (blanks > 0) return { taken: blanks };
    if (text[at] === '>') return this.#endTag();
    this.#attribute = '';
    return this.#go('attribute name', 0);
  }

  #endTag(): Step {
    if (withText.includes(this.#element)) this.#textOf = this.#element;
    return this.#go('text', 1);
  }

  #readAttributeName(text: string, at: number): Step {
    const length = lengthOf(/[^\t\n\f\r />=]*/y, text, at);
    const room = maxNameLength + 1 - this.#attribute.length;
    this.#attribute += text.slice(at, at + Math.min(length, room)).toLowerCase();
    if (at + length < text.length) return this.#go('equals sign', length);
    return { taken: length };
  }

  #readEqualsSign(text: string, at: number): Step {
    const blanks = lengthOf(/[\t\n\f\r ]*/y, text, at);
    if (blanks > 0) return { taken: blanks };
    return text[at] === '=' ? this.#go('quote', 1) : this.#go('attributes', 0);
  }

  #readQuote(text: string, at: number): Step {
    const blanks = lengthOf(/[\t\n\f\r ]*/y, text, at);
    if (blanks > 0) return { taken: blanks };
    if (text[at] === '>') return this.#endTag();
    const isQuoted = text[at] === '"' || text[at] === "'";
    this.#quote = isQuoted ? (text[at] ?? '') : '';
    const isLink = Object.hasOwn(links, this.#element) && links[this.#element]?.includes(this.#attribute);
    return this.#go(isLink === true ? 'link' : 'value', isQuoted ? 1 : 0);
  }

  #readLink(text: string, at: number): Step {
    const found = this.#endOfValue(text, at);
    const isKnown = found >= 0 || this.#isLast || text.length - at >= this.#maxStart;
    if (!isKnown) return undefined;
    const start = text.slice(at, Math.min(found < 0 ? text.length : found, at + this.#maxStart));
    return { ...this.#go('value', start.length), out: moveLink(start, this.#moved) };
  }

  #readValue(text: string, at: number): Step {
    const found = this.#endOfValue(text, at);
    if (found < 0) return { taken: text.length - at };
    return this.#go('attributes', found + this.#quote.length - at);
  }

  #endOfValue(text: string, at: number): number {
    if (this.#quote !== '') return text.indexOf(this.#quote, at);
    const length = lengthOf(/[^\t\n\f\r >]*/y, text, at);
    return at + length < text.length ? at + length : -1;
  }

  #go(place: Place, taken: number): { readonly taken: number } {
    this.#place = place;
    return { taken };
  }
}

/** How many characters match here; `pattern` is sticky. */
function lengthOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

/** The start of a link, or the whole of it. A path that has the prefix already stays, and so does another server's. */
export function moveLink(start: string, { origin, prefix }: Moved): string {
  const link = start.trimStart();
  const blanks = start.slice(0, start.length - link.length);
  const isBelow = (base: string) => link.startsWith(base) && /^(?:$|[/?#])/.test(link.slice(base.length));
  if (isBelow(prefix)) return start;
  if (/^\/(?![/\\])/.test(link)) return blanks + prefix + link;
  const own = [origin, origin.replace(/^https?:/, '')].find(isBelow);
  if (own === undefined) return start;
  const path = link.slice(own.length);
  return blanks + prefix + (path.startsWith('/') ? '' : '/') + path;
}
