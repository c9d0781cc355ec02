import type { Node, Taint } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import { withTaints } from './condition-taints.ts';

/** What is wrong with a node: it is silent, or reports that it is not ready. */
export type Trouble = 'unreachable' | 'not-ready';

/** The trouble that a node's taints express, by their effect. */
export interface Tainted {
  noSchedule: Trouble | undefined;
  noExecute: Trouble | undefined;
}

const troubles: readonly Trouble[] = ['unreachable', 'not-ready'];
const effects = { noSchedule: 'NoSchedule', noExecute: 'NoExecute' } as const;

/** The taints that express trouble (specification, section 3.2), for one domain. Others are never changed. */
export interface NodeTaints {
  read(node: Node): Tainted;
  /** The node with exactly these of our taints; the same object when it has them. `now`: wall clock. */
  write(node: Node, wanted: Tainted, now: number): Node;
}

export function nodeTaints(domain: string): NodeTaints {
  const keyOf = (trouble: Trouble) => `node.${domain}/${trouble}`;
  const find = (taints: readonly Taint[], effect: string) =>
    troubles.find((trouble) => taints.some((taint) => isThat(taint, keyOf(trouble), effect)));

  return {
    read({ spec }) {
      const taints = spec?.taints ?? [];
      return { noSchedule: find(taints, effects.noSchedule), noExecute: find(taints, effects.noExecute) };
    },
    write(node, wanted, now) {
      const taints = node.spec?.taints ?? [];
      const asked = (['noSchedule', 'noExecute'] as const).flatMap((name) => {
        const trouble = wanted[name];
        return trouble === undefined ? [] : [{ key: keyOf(trouble), effect: effects[name] }];
      });
      const isAsked = (taint: Taint) => asked.some(({ key, effect }) => isThat(taint, key, effect));
      const kept = taints.filter((taint) => isAsked(taint) || !isOurs(taint, keyOf));
      const missing = asked.filter(({ key, effect }) => !taints.some((taint) => isThat(taint, key, effect)));
      if (missing.length === 0 && kept.length === taints.length) return node;
      const added = missing.map((taint) => ({ ...taint, timeAdded: formatTime(now) }));
      return withTaints(node, [...kept, ...added]);
    },
  };
}

function isThat(taint: Taint, key: string, effect: string): boolean {
  return taint.key === key && taint.effect === effect;
}

function isOurs({ key, effect }: Taint, keyOf: (trouble: Trouble) => string): boolean {
  const hasOurEffect = effect === effects.noSchedule || effect === effects.noExecute;
  return hasOurEffect && troubles.some((trouble) => keyOf(trouble) === key);
}
