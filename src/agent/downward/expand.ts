/**
 * Replaces each `$(NAME)` by its value. One that has none stays as it is, and `$$` is a dollar sign that begins nothing.
 * Takes time by the length of the text, whatever is in it.
 */
export function expandReferences(text: string, values: Pick<ReadonlyMap<string, string>, 'get'>): string {
  let expanded = '';
  let done = 0;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', done)) {
    expanded += text.slice(done, at);
    const end = text[at + 1] === '(' ? text.indexOf(')', at) : -1;
    if (end >= 0) {
      expanded += values.get(text.slice(at + 2, end)) ?? text.slice(at, end + 1);
      done = end + 1;
    } else if (text[at + 1] === '(') {
      return expanded + withoutEscapes(text.slice(at)); // no reference ends any more
    } else {
      expanded += '$';
      done = at + (text[at + 1] === '$' ? 2 : 1);
    }
  }
  return expanded + text.slice(done);
}

function withoutEscapes(text: string): string {
  return text.replaceAll('$$', () => '$');
}
