import type { AgentRoute } from '../../server/index.ts';
import { RefusedError, sendJson } from '../../server/index.ts';
import type { RefusedManifest } from '../sources/verdicts.ts';
import type { FullDisk, NodePressure, PodExplanation } from './explain.ts';

/** Who knows the pods. */
export interface Explainer {
  /** All pods of the node, by namespace and name. */
  list(): readonly PodExplanation[];
  find(namespace: string, name: string): PodExplanation | undefined;
  /** The disks of the node that are full; never rejects. */
  fullDisks(): Promise<readonly FullDisk[]>;
  /** What the node is short of. */
  pressures(): readonly NodePressure[];
  /** Why a pod may be missing that there is; undefined: all are known. */
  whyMissing(): string | undefined;
  /** Manifests that are not used as they are. */
  refusedManifests(): readonly RefusedManifest[];
}

/**
 * `GET /pods/explain`: the pods of this node and what each waits for; `GET /pods/explain/{namespace}/{pod}`: everything that
 * is known of one. `explainer`: undefined where the agent runs no pods.
 */
export function explainRoutes(explainer: Explainer | undefined): readonly AgentRoute[] {
  const subresource = 'pods';
  return [
    {
      path: '/pods/explain',
      subresource,
      methods: { GET: ({ reply }) => sendJson(reply, 200, explainAll(explainer)) },
    },
    {
      path: '/pods/explain/:namespace/:pod',
      subresource,
      methods: {
        async GET({ params, reply }) {
          const { namespace = '', pod = '' } = params;
          const found = explainer?.find(namespace, pod);
          if (explainer === undefined || found === undefined)
            throw new RefusedError(404, describeMissing(namespace, pod, explainer));
          return sendJson(reply, 200, await withCauses(found, explainer));
        },
      },
    },
  ];
}

function explainAll(explainer: Explainer | undefined) {
  const items = (explainer?.list() ?? []).map(withoutDetails);
  const refusedManifests = explainer?.refusedManifests() ?? [];
  const pressures = explainer?.pressures() ?? [];
  return {
    items,
    ...(refusedManifests.length === 0 ? {} : { refusedManifests }),
    ...(pressures.length === 0 ? {} : { pressures }),
  };
}

/** With what is wrong elsewhere and may concern the pod. */
async function withCauses(found: PodExplanation, explainer: Explainer) {
  const fullDisks = await explainer.fullDisks();
  const pressures = explainer.pressures();
  const name = `${found.namespace}/${found.name}`;
  const refusedManifests = explainer.refusedManifests().filter(({ pod }) => pod === name);
  return {
    ...found,
    ...(fullDisks.length === 0 ? {} : { fullDisks }),
    ...(pressures.length === 0 ? {} : { pressures }),
    ...(refusedManifests.length === 0 ? {} : { refusedManifests }),
  };
}

function describeMissing(namespace: string, name: string, explainer: Explainer | undefined): string {
  const why = explainer?.whyMissing();
  const text = `this node has no pod ${namespace}/${name}`;
  if (why !== undefined) return `${text} that is known now: ${why}`;
  const own = explainer?.list().find((pod) => isOfManifest(pod, namespace, name));
  if (own !== undefined)
    return `${text}: the pod of the manifest is called ${own.namespace}/${own.name} here`;
  const [refused] = explainer?.refusedManifests() ?? [];
  const hint = refused === undefined ? '' : `. Not every manifest is used: ${refused.message}`;
  return `${text}: it is bound to another node or to none (spec.nodeName), or it is gone${hint}`;
}

/** Whether the pod has the name that its manifest says, with that of the node after it. */
const isOfManifest = (pod: PodExplanation, namespace: string, name: string): boolean =>
  pod.origin !== 'api' && pod.namespace === namespace && pod.name.startsWith(`${name}-`);

function withoutDetails({ timeline: _timeline, volumes: _volumes, ...rest }: PodExplanation) {
  return rest;
}
