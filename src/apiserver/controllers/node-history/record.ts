import { hash } from 'node:crypto';
import type { ConfigMap, Node } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import { isRecord, tryParseRecord } from '../../../base/index.ts';

/*
 * What happened to a node: each change of a condition's status or reason. It is kept in a ConfigMap of its own, a line of
 * JSON for each change, because Events are gone after an hour and a condition knows its last change only.
 */

/** One change of a condition. */
export interface Transition {
  /** RFC 3339, in seconds: when the condition says that it changed. */
  readonly time: string;
  readonly condition: string;
  /** The status before; empty if it is not known. */
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  readonly message: string;
}

export const historyNamespace = 'kube-system';
const dataKey = 'transitions';
/** The oldest go first, but the last one of each condition stays. */
export const maxTransitions = 100;
export const maxAgeDays = 30;
/** In characters, of each text of a condition, which the node chooses: so a history takes at most some 200 KiB. */
const maxTextLength = 256;
/** Of the name of any object (RFC 1123). */
const maxNameLength = 253;
/** A node with more conditions has no history of the others. */
const maxConditions = 20;

/** The name of the ConfigMap. Of a node whose name is too long for that, the name is cut and gets a digest. */
export function historyNameOf(node: string): string {
  const name = `node-history-${node}`;
  if (name.length <= maxNameLength) return name;
  const digest = hash('sha256', node).slice(0, 16);
  return `${name.slice(0, maxNameLength - digest.length)}${digest}`;
}

/** The oldest first. What cannot be read is left out. */
export function parseHistory({ data }: ConfigMap): Transition[] {
  const lines = (data?.[dataKey] ?? '').split('\n').filter((line) => line !== '');
  return lines.slice(-2 * maxTransitions).flatMap((line) => {
    const value = tryParseRecord(line);
    return isTransition(value) ? [value] : [];
  });
}

const fields = ['time', 'condition', 'from', 'to', 'reason', 'message'];

function isTransition(value: unknown): value is Transition {
  return isRecord(value) && fields.every((name) => typeof value[name] === 'string');
}

export const toData = (history: readonly Transition[]): Record<string, string> => ({
  [dataKey]: history.map((each) => `${JSON.stringify(each)}\n`).join(''),
});

/** How the conditions of a node differ from what is known of them, each in the last transition to it. */
export function findTransitions(
  known: ReadonlyMap<string, Transition>,
  { status }: Node,
  nowMs: number,
): Transition[] {
  const conditions = (status?.conditions ?? []).slice(0, maxConditions);
  return conditions.flatMap(({ lastTransitionTime, ...texts }) => {
    const [condition, to] = [cut(texts.type), cut(texts.status)];
    const [reason, message] = [cut(texts.reason), cut(texts.message)];
    const before = known.get(condition);
    if (before?.to === to && before.reason === reason) return [];
    const isNewReason = before?.to === to; // the condition does not say when its reason changed
    const time = isNewReason ? formatTime(nowMs) : (lastTransitionTime ?? formatTime(nowMs));
    return [{ time: cut(time), condition, from: before?.to ?? '', to, reason, message }];
  });
}

const cut = (text = ''): string => text.slice(0, maxTextLength);

/** The last transition of each condition. */
export function lastOfEach(history: readonly Transition[]): Map<string, Transition> {
  return new Map(history.map((each) => [each.condition, each]));
}

/** Within the bounds. */
export function trimHistory(history: readonly Transition[], nowMs: number): Transition[] {
  const last = new Set(lastOfEach(history).values());
  const oldestMs = nowMs - maxAgeDays * 24 * 3600_000;
  const firstKept = history.length - maxTransitions;
  return history.filter(
    (each, index) => last.has(each) || (index >= firstKept && Date.parse(each.time) >= oldestMs),
  );
}
