import type { Binding, Pod, Status } from '../../../api/index.ts';
import { bindingBody, conflict, podKind, StatusError } from '../../../api/index.ts';
import type { Operation, OperationRequest } from '../types.ts';

const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

const attempts = 10;

/** Gives a pod to a node, once (pods/binding). Throws NotFound, and Conflict when it has one or is going. */
export const podBinding: Operation<Binding> = {
  body: bindingBody,
  async run(request) {
    for (let attempt = 1; ; attempt++) {
      try {
        await bind(request);
        return { status: success };
      } catch (error) {
        if (attempt === attempts || !wasOvertaken(error)) throw error;
      }
    }
  },
};

/** Another write came between reading the pod and writing it. */
class OvertakenError extends Error {}

function wasOvertaken(error: unknown): boolean {
  return error instanceof OvertakenError;
}

async function bind({ registry, namespace, name, body, context }: OperationRequest<Binding>): Promise<void> {
  const pods = registry.of(podKind);
  const pod = pods.encoding.read(pods.get(namespace, name));
  const { uid, resourceVersion } = body.metadata ?? {};
  const found = pod.metadata ?? {};
  const wrong =
    whyNot(pod, name) ??
    differs('UID', uid, found.uid) ??
    differs('resourceVersion', resourceVersion, found.resourceVersion);
  if (wrong !== undefined)
    throw conflict({ ...podKind, resource: 'pods/binding' }, registry.groupSuffix, name, wrong);
  try {
    await pods.update(namespace, name, given(pod, body), 'binding', context);
  } catch (error) {
    const again = error instanceof StatusError && error.reason === 'Conflict' && !resourceVersion;
    throw again ? new OvertakenError('the pod was changed meanwhile', { cause: error }) : error;
  }
}

function whyNot({ metadata, spec }: Pod, name: string): string | undefined {
  if (metadata?.deletionTimestamp !== undefined)
    return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (spec?.nodeName) return `pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`;
  const isGated = (spec?.schedulingGates ?? []).length > 0;
  return isGated ? `pod ${name} has non-empty .spec.schedulingGates` : undefined;
}

function differs(what: string, wanted: string | undefined, found: string | undefined): string | undefined {
  if (!wanted || wanted === found) return undefined;
  return `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found ?? ''}`;
}

/** The pod at its node; labels and annotations of the binding become the pod's. */
function given(pod: Pod, { metadata, target }: Binding): Pod {
  const labels = { ...pod.metadata?.labels, ...metadata?.labels };
  const annotations = { ...pod.metadata?.annotations, ...metadata?.annotations };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    ...(pod.spec === undefined ? {} : { spec: { ...pod.spec, nodeName: target.name ?? '' } }),
  };
}
