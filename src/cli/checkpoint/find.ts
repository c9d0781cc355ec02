import { isCheckpointId, isRecord } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { toRecords } from '../agent-client/response.ts';
import { isOperationId } from './checkpoint-id.ts';
import { listCheckpoints } from './listing.ts';

/** A checkpoint that there is, as far as its record can be read. */
interface Known {
  readonly id: string;
  readonly namespace?: unknown;
  readonly pod?: unknown;
  readonly container?: unknown;
}

/** A container whose newest checkpoint is meant; all parts undefined: any container. */
interface ContainerName {
  readonly namespace: string | undefined;
  readonly pod?: string;
  readonly container?: string;
}

/**
 * The id that a reference (`idForms`) stands for. A whole id is returned as it is, without a request. Throws an ExitError
 * when there is none, and with the matches when there are several.
 */
export async function findCheckpoint(
  client: ApiClient,
  reference: string,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (isWhole(reference)) return reference;
  const wanted = toContainerName(reference, namespace);
  const filters = wanted === undefined ? { namespace } : { ...wanted, limit: 1 };
  const { items } = await listCheckpoints(client, filters, signal);
  const known = toRecords(items).map(({ id, record }) => ({
    ...(isRecord(record) ? record : {}),
    id: String(id),
  }));
  return chooseCheckpoint(reference, namespace, known);
}

/** The same for checkpoints that have been listed, the newest first. */
export function chooseCheckpoint(
  reference: string,
  namespace: string | undefined,
  newestFirst: readonly Known[],
): string {
  if (isWhole(reference)) return reference;
  const wanted = toContainerName(reference, namespace);
  if (wanted === undefined) {
    const there = newestFirst.filter((each) => isOf(each, { namespace }));
    return chooseByBeginning(reference, there);
  }
  const found = newestFirst.find((each) => isOf(each, wanted));
  if (found !== undefined) return found.id;
  const parts = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const what = parts.map(([name, value]) => ` ${name} ${JSON.stringify(value)}`).join(',');
  throw notFound(`there is no checkpoint${what === '' ? '' : ` of${what}`}`);
}

const isWhole = (reference: string): boolean => isCheckpointId(reference) || isOperationId(reference);

/** Undefined for the beginning of an id. */
function toContainerName(reference: string, namespace: string | undefined): ContainerName | undefined {
  if (reference === 'latest') return { namespace };
  const [container, pod, own] = reference.split('/').reverse();
  if (container === undefined || pod === undefined) return undefined;
  if (own === undefined || namespace === undefined || own === namespace)
    return { namespace: own ?? namespace, pod, container };
  throw new ExitError(exitCodes.usage, `${reference} is not of the namespace ${namespace} of --namespace`);
}

function isOf(known: Known, { namespace, pod, container }: ContainerName): boolean {
  return (
    (namespace === undefined || known.namespace === namespace) &&
    (pod === undefined || known.pod === pod) &&
    (container === undefined || known.container === container)
  );
}

const maxListed = 10;

function chooseByBeginning(beginning: string, known: readonly Known[]): string {
  const beginnings = [beginning, `checkpoint-${beginning}`];
  const matches = known.filter(({ id }) => beginnings.some((each) => id.startsWith(each)));
  const [first, ...others] = matches.map(({ id }) => id);
  if (first === undefined) throw notFound(`no checkpoint begins with ${JSON.stringify(beginning)}`);
  if (others.length === 0) return first;
  const listed = [first, ...others].slice(0, maxListed).map((id) => `\n  ${id}`);
  const more = matches.length > maxListed ? `\n  and ${matches.length - maxListed} more` : '';
  throw new ExitError(
    exitCodes.usage,
    `${JSON.stringify(beginning)} is the beginning of ${matches.length} checkpoints; give more of one:${listed.join('')}${more}`,
  );
}

const notFound = (message: string): ExitError =>
  new ExitError(exitCodes.failed, `${message}; see those that there are with: nodeward checkpoint ls`);
