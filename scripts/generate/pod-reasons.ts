import type { PodReason } from '../../src/agent/pods/explain/index.ts';

const markers = /(<!-- The tables of reasons; made by scripts\/generate.ts -->\n)[\s\S]*(<!-- end -->)/;

const tables: readonly (readonly [kind: PodReason['kind'], head: string])[] = [
  [
    'waits',
    'What a pod or one of its containers waits for, in its status, its events, `pods ls` and `pods explain`:',
  ],
  [
    'refused',
    'A pod that the node cannot take has the phase `Failed` at once; a critical one displaces less important ones instead:',
  ],
  ['ended', 'Pods that the node ends:'],
  ['exit', 'How a container ended; other words are those of the runtime:'],
];

/** `docs/pods.md` with the tables between its two marks. */
export function podReasonsWith(reasons: Readonly<Record<string, PodReason>>, page: string): string {
  const text = tables.map(([kind, head]) => `${head}\n\n${tableOf(reasons, kind)}`).join('\n');
  return page.replace(markers, (_all, begin: string, end: string) => `${begin}\n${text}${end}`);
}

function tableOf(reasons: Readonly<Record<string, PodReason>>, kind: PodReason['kind']): string {
  const rows = Object.entries(reasons)
    .filter(([, each]) => each.kind === kind)
    .map(([name, { means, advice = 'nothing' }]) => [`\`${name}\``, means, advice]);
  const head = ['reason', 'what it means', 'what to do'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
