import type {
  PlacementExplanation,
  PlacementExplanationStatus,
  PlacementNodes,
  PlacementPreemption,
} from '../../api/index.ts';
import { placementExplanationKind, podKind, StatusError } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import type { Paint } from '../terminal/colour.ts';
import type { TextResult } from '../terminal/result.ts';
import { sanitize } from '../terminal/text.ts';

interface PodName {
  namespace: string;
  name: string;
}

/** Whether the control plane has the pod, and no node for it; false where the caller may not read it. */
export async function isUnplaced(
  api: ApiClient,
  { namespace, name }: PodName,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { spec } = await api.get(podKind, name, { namespace, signal });
    return !spec?.nodeName;
  } catch (error) {
    if (error instanceof StatusError && (error.code === 404 || error.code === 403)) return false;
    throw error;
  }
}

/** Asks the control plane why the pod has no node, for people: what it waits for, then the nodes by what refuses them. */
export async function explainPlacement(
  api: ApiClient,
  { namespace, name }: PodName,
  { allNodes, signal }: { allNodes: boolean; signal: AbortSignal },
): Promise<TextResult> {
  const question = { spec: { podName: name, allNodes } };
  const answer = await api.create(placementExplanationKind, question, { namespace, signal });
  const { status } = answer;
  if (status === undefined)
    throw new ExitError(
      exitCodes.failed,
      `${api.server} sent no answer to the ${placementExplanationKind.kind}`,
    );
  return describePlacement(`${namespace}/${name}`, answer, status);
}

function describePlacement(
  pod: string,
  document: PlacementExplanation,
  status: PlacementExplanationStatus,
): TextResult {
  return {
    document,
    names: [pod],
    text: (paint) =>
      [`pod ${sanitize(pod)} has no node`, ...linesOf(status, paint)].map((line) => `${line}\n`).join(''),
  };
}

function linesOf(status: PlacementExplanationStatus, paint: Paint): string[] {
  const { waitsFor, nodeCount = 0, fits, refused = [], moreRefused = 0 } = status;
  const { preemptions = [], morePreemptions = 0 } = status;
  const wait = paint(sanitize(`waits: ${waitsFor.message} (${waitsFor.reason})`), 'doubtful');
  if (fits === undefined) return [wait];
  return [
    wait,
    '',
    sanitize(`of ${nodeCount} nodes ${fits.count} fit${listNames(fits)}`),
    ...refused.map(({ filter, message, nodes }) =>
      sanitize(
        `  ${nodes.count} not: ${message}${filter === undefined ? '' : ` (${filter})`}${listNames(nodes)}`,
      ),
    ),
    ...(moreRefused === 0 ? [] : [`  ${moreRefused} more not, for other reasons (-o json --all has them)`]),
    ...(preemptions.length === 0 ? [] : ['', 'it would fit if less important pods ended:']),
    ...preemptions.map((each) => sanitize(`  ${describePreemption(each)}`)),
    ...(morePreemptions === 0 ? [] : [`  or on ${morePreemptions} more nodes`]),
  ];
}

/** `: a, b and 3 more`; nothing where no names are known. */
function listNames({ count, names = [] }: PlacementNodes): string {
  return names.length === 0 ? '' : `: ${joinSome(names, count)}`;
}

function joinSome(names: readonly string[], count: number): string {
  const more = count - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function describePreemption({ node, podCount, pods = [], violations = 0 }: PlacementPreemption): string {
  const who = pods.length === 0 ? `${podCount} pods` : joinSome(pods, podCount);
  const kept = violations === 0 ? '' : `, of which a PodDisruptionBudget keeps ${violations}`;
  return `${node === undefined ? '' : `${node}: `}${who}${kept}`;
}
