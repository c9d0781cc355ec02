/** The endings that only counters, and only parts of histograms and summaries, may have. */
const counterEnding = /_total$/;
const partEnding = /_(?:count|sum|bucket)$/;
const abbreviated = /_(?:s|ms|us|ns|sec|b|kb|mb|gb|h|d)(?:_total)?$/;

/** What `promtool check metrics` complains of in a text of metrics. */
export function lintMetrics(text: string): string[] {
  const complaints: string[] = [];
  const helped = new Set([...text.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name));
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const complain = (why: string) => void complaints.push(`${name}: ${why}`);
    if (!helped.has(name)) complain('no help text');
    if (type === 'counter' && !counterEnding.test(name))
      complain('counter metrics should have "_total" suffix');
    if (type !== 'counter' && counterEnding.test(name)) {
      complain('non-counter metrics should not have "_total" suffix');
    }
    if (partEnding.test(name)) complain('has the suffix of a part of a histogram');
    if (abbreviated.test(name)) complain('metric names should not contain abbreviated units');
    if (/[A-Z]/.test(name)) complain('metric names should be written in "snake_case" not "camelCase"');
    if (name.includes(`_${type}`)) complain('metric name should not include its type');
  }
  return complaints;
}
