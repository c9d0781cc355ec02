import { isRecord } from '../../api/index.ts';
import { textCell, toRecords } from '../agent-client/response.ts';
import type { Item } from './answers.ts';
import { numberOf, recordOf, sumKnown, textOf } from './answers.ts';
import type { ContainerFigures, PodFigures, UseFigures } from './figures.ts';
import type { Throttling } from './throttling.ts';

/**
 * The pods that have not ended: those that run here by `/stats/summary`, with what `/pods/explain` says of them, and those that wait
 * to run. The agent may be of another version, or explain nothing.
 */
export function readPods(summary: Item, explained: Item | undefined, throttling: Throttling): PodFigures[] {
  const explanations = new Map(toRecords(explained?.['items']).map((item) => [textCell(item['uid']), item]));
  const running = toRecords(summary['pods']).map((used) => {
    const ref = recordOf(used['podRef']);
    const uid = textCell(ref['uid']);
    const explanation = explanations.get(uid);
    explanations.delete(uid);
    return readPod({ ...ref, uid }, used, explanation ?? {}, throttling);
  });
  const waiting = [...explanations.values()].filter((item) => !hasEnded(item));
  return [...running, ...waiting.map((item) => readPod(item, {}, item, throttling))];
}

const hasEnded = ({ phase }: Item): boolean => phase === 'Succeeded' || phase === 'Failed';

function readPod(ref: Item, used: Item, explanation: Item, throttling: Throttling): PodFigures {
  const [namespace, name, uid] = [textCell(ref['namespace']), textCell(ref['name']), textCell(ref['uid'])];
  const containers = readContainers(uid, used, explanation, throttling);
  const own = readUse(uid, used, throttling);
  const ephemeral = recordOf(used['ephemeral-storage']);
  return {
    ...{ namespace, name, uid, status: statusOf(explanation) },
    ...own,
    memoryShare: greatest([own, ...containers].map(({ memoryShare }) => memoryShare)),
    throttledShare: greatest([own, ...containers].map(({ throttledShare }) => throttledShare)),
    ephemeralBytes: numberOf(ephemeral['usedBytes']),
    restarts: sumKnown(containers.map(({ restarts }) => restarts)),
    ready: countReady(explanation),
    containers,
  };
}

/** Those that run, and those that are to run on. */
function readContainers(
  uid: string,
  used: Item,
  explanation: Item,
  throttling: Throttling,
): ContainerFigures[] {
  const running = new Map(toRecords(used['containers']).map((each) => [textCell(each['name']), each]));
  const explained = toRecords(explanation['containers']);
  const meant = explained.filter((each) => isLasting(each) || running.has(textCell(each['name'])));
  const names = new Set([...meant.map((each) => textCell(each['name'])), ...running.keys()]);
  return [...names].map((name) => {
    const use = running.get(name) ?? {};
    const about = explained.find((each) => each['name'] === name) ?? {};
    const disks = [recordOf(use['rootfs'])['usedBytes'], recordOf(use['logs'])['usedBytes']].map(numberOf);
    return {
      name,
      ...readUse(`${uid}/${name}`, use, throttling),
      ephemeralBytes: sumKnown(disks),
      restarts: numberOf(about['restarts']),
      status: textOf(about['reason']) ?? textOf(about['state']),
      isReady: typeof about['ready'] === 'boolean' ? about['ready'] : undefined,
    };
  });
}

type OwnUse = Pick<
  UseFigures,
  'cpuNanoCores' | 'memoryBytes' | 'memoryLimitBytes' | 'memoryShare' | 'throttledShare'
>;

/** `key`: of the pod or container, for the comparison with the look before. */
function readUse(key: string, used: Item, throttling: Throttling): OwnUse {
  const [cpu, memory] = [recordOf(used['cpu']), recordOf(used['memory'])];
  const memoryBytes = numberOf(memory['workingSetBytes']);
  const available = numberOf(memory['availableBytes']); // there only where there is a limit
  const memoryLimitBytes =
    memoryBytes === undefined || available === undefined ? undefined : memoryBytes + available;
  const hasLimit = memoryBytes !== undefined && memoryLimitBytes !== undefined && memoryLimitBytes > 0;
  return {
    cpuNanoCores: numberOf(cpu['usageNanoCores']),
    memoryBytes,
    memoryLimitBytes,
    memoryShare: hasLimit ? memoryBytes / memoryLimitBytes : undefined,
    throttledShare: throttling.share(key, recordOf(cpu['throttling'])),
  };
}

function statusOf({ stage, waitsFor, phase }: Item): string | undefined {
  if (stage === 'terminating') return 'Terminating';
  return textOf(isRecord(waitsFor) ? waitsFor['reason'] : undefined) ?? textOf(phase);
}

/** Undefined: the agent does not say. */
function countReady({ containers }: Item): PodFigures['ready'] {
  const lasting = toRecords(containers).filter(isLasting);
  if (lasting.length === 0) return undefined;
  return { count: lasting.filter(({ ready }) => ready === true).length, of: lasting.length };
}

/** Init containers and those for debugging come and go. */
const isLasting = ({ type }: Item): boolean => type === 'regular' || type === 'sidecar';

function greatest(shares: readonly (number | undefined)[]): number | undefined {
  const known = shares.filter((share) => share !== undefined);
  return known.length === 0 ? undefined : known.reduce((most, each) => Math.max(most, each));
}
