/** Words of PromQL that are no metric: functions, aggregations, operators and what stands around labels. */
const words = new Set(
  (
    'and or unless on ignoring group_left group_right bool offset by without ' +
    'sum min max avg count topk histogram_quantile rate increase time vector label_values'
  ).split(' '),
);

/** The names of metrics in an expression, the parts of histograms as the histogram's. */
export function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, '')
    .replaceAll(/(label_values\([^,]*),[^)]*\)/g, '$1)');
  const names = [...bare.matchAll(/(?<![\w:])[a-zA-Z_:][\w:]*/g)].map(([name]) => name);
  return [...new Set(names.filter((name) => !words.has(name)))];
}

const pairs: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** What is wrong with the brackets and quotes of an expression; undefined when they are balanced. */
export function imbalanceOf(expression: string): string | undefined {
  const text = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
  if (text.includes('"')) return 'a quote is open';
  const open: string[] = [];
  for (const letter of text) {
    if ('([{'.includes(letter)) open.push(letter);
    const opening = pairs[letter];
    if (opening !== undefined && open.pop() !== opening) return `${letter} closes nothing`;
  }
  return open.length === 0 ? undefined : `${open.join('')} stays open`;
}
