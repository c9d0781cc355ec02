import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';

/** An expression of the rules or the dashboard, with where it stands. */
export interface ShippedQuery {
  where: string;
  expression: string;
}

/** The alert and recording rules of `deploy/observability`, as far as tests look at them. */
export interface ShippedRule {
  file: string;
  name: string;
  isAlert: boolean;
  expression: string;
  text: string;
}

export const ruleFiles = ['recording-rules.yml', 'alert-rules.yml'] as const;
export const dashboardFile = 'grafana-dashboard.json';

/** Whether a value is an object whose fields can be looked at. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A field that is a list of objects; empty when there is none. */
export function recordsIn(value: unknown, field: string): Readonly<Record<string, unknown>>[] {
  const list = isRecord(value) ? value[field] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** Reads the rules of both files. */
export async function shippedRules(folder: string): Promise<ShippedRule[]> {
  const found: ShippedRule[] = [];
  for (const file of ruleFiles) {
    const document = load(await readFile(join(folder, file), 'utf8'));
    for (const rule of recordsIn(document, 'groups').flatMap((group) => recordsIn(group, 'rules'))) {
      const { alert, record, expr, annotations } = rule;
      const name = String(alert ?? record);
      const text = Object.values(isRecord(annotations) ? annotations : {}).join('\n');
      found.push({ file, name, isAlert: alert !== undefined, expression: String(expr), text });
    }
  }
  return found;
}

/** Reads the queries of the dashboard: those of its panels and of its variables. */
export async function dashboardQueries(folder: string): Promise<ShippedQuery[]> {
  const board: unknown = JSON.parse(await readFile(join(folder, dashboardFile), 'utf8'));
  const panels = recordsIn(board, 'panels').flatMap(({ title, ...panel }) =>
    recordsIn(panel, 'targets').map(({ expr }) => ({ where: String(title), expression: String(expr) })),
  );
  const templating = isRecord(board) ? board['templating'] : undefined;
  const variables = recordsIn(templating, 'list').filter(({ type }) => type === 'query');
  return [
    ...panels,
    ...variables.map(({ name, definition }) => ({ where: String(name), expression: String(definition) })),
  ];
}

/** What a metric is called in the sources; a part in `${…}` stands for any name. */
export type ExportedNames = (name: string) => boolean;

const declared =
  /(?:new (?:Counter|Gauge|Histogram)\(\{\s*name:\s*|name: |gauge\(\s*)(?:'([a-z][a-z0-9_]*_[a-z0-9_]+)'|`([a-z][a-z0-9_]*_[^`]*)`)/g;

/** Reads from the sources below `src` which metrics the programs register. */
export async function exportedNames(src: string): Promise<ExportedNames> {
  const patterns: RegExp[] = [];
  for (const path of await readdir(src, { recursive: true })) {
    if (!path.endsWith('.ts')) continue;
    const text = await readFile(join(src, path), 'utf8');
    if (!/\b(?:Counter|Gauge|Histogram)\b/.test(text)) continue;
    const parts = [...text.matchAll(/'([a-z][a-z_]*)'/g)].map(([, part]) => part).join('|');
    for (const [, plain, template] of text.matchAll(declared)) {
      const source = plain ?? (template ?? '').replaceAll(/\$\{[^}]*\}/g, `(?:${parts})`);
      patterns.push(new RegExp(`^${source}$`));
    }
  }
  return (name) => patterns.some((pattern) => pattern.test(name));
}
