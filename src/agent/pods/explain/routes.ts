import type { AgentRoute } from '../../server/index.ts';
import { RefusedError, sendJson } from '../../server/index.ts';
import type { PodExplanation } from './explain.ts';

/** Who knows the pods. */
export interface Explainer {
  /** All pods of the node, by namespace and name. */
  list(): readonly PodExplanation[];
  find(namespace: string, name: string): PodExplanation | undefined;
  /** Why a pod may be missing that there is; undefined: all are known. */
  whyMissing(): string | undefined;
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
          if (found === undefined)
            throw new RefusedError(404, describeMissing(`${namespace}/${pod}`, explainer));
          return sendJson(reply, 200, found);
        },
      },
    },
  ];
}

function describeMissing(pod: string, explainer: Explainer | undefined): string {
  const why = explainer?.whyMissing();
  const text = `this node has no pod ${pod}`;
  if (why !== undefined) return `${text} that is known now: ${why}`;
  return `${text}: it is bound to another node or to none (spec.nodeName), or it is gone`;
}

function withoutTimeline({ timeline: _timeline, ...rest }: PodExplanation) {
  return rest;
}
