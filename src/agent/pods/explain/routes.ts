import type { AgentRoute } from '../../server/index.ts';
import { RefusedError, sendJson } from '../../server/index.ts';
import type { PodExplanation } from './explain.ts';

/** Who knows the pods. */
export interface Explainer {
  /** All pods of the node, by namespace and name. */
  list(): readonly PodExplanation[];
  find(namespace: string, name: string): PodExplanation | undefined;
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
      methods: {
        GET: ({ reply }) => sendJson(reply, 200, { items: (explainer?.list() ?? []).map(withoutTimeline) }),
      },
    },
    {
      path: '/pods/explain/:namespace/:pod',
      subresource,
      methods: {
        GET({ params, reply }) {
          const { namespace = '', pod = '' } = params;
          const found = explainer?.find(namespace, pod);
          if (found === undefined) throw new RefusedError(404, `this node has no pod ${namespace}/${pod}`);
          return sendJson(reply, 200, found);
        },
      },
    },
  ];
}

function withoutTimeline({ timeline: _timeline, ...rest }: PodExplanation) {
  return rest;
}
