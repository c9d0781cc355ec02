import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Node, Pod } from '../../../api/index.ts';
import { nodeKind, podKind, StatusError } from '../../../api/index.ts';
import type { HttpsApp } from '../../../base/https/index.ts';
import type { NamedNode } from '../../node-proxy/index.ts';
import { attributesOf, authenticate, authorizeRequest } from '../admission/access.ts';
import { auditAsked } from '../admission/audit.ts';
import { passBodies } from '../node-proxy.ts';
import type { HttpOptions } from '../options.ts';
import type { RequestCounts } from '../request-counts.ts';
import { methodNotAllowed, routedMethods, usualVerbOf } from '../routing/methods.ts';

/*
 * The paths of a pod that its node's agent answers: who asks is authorized for the subresource of the pod, and what is asked for
 * is passed on to the agent.
 */

/** An authorized request for such a path. */
export interface AskedPod {
  readonly pod: Pod;
  readonly namespace: string;
  readonly name: string;
  readonly requester: string;
  /** When the credential of the caller ends. */
  readonly untilMs: number;
  /** The Node to which it is bound; throws 404 for one that is gone. `name` is empty while the pod is bound to none. */
  node(name: string): { readonly node: Node; readonly named: NamedNode };
}

export interface PodPath {
  readonly subresource: string;
  readonly methods: readonly string[];
  /** Instead of the method's own. */
  verb?(request: FastifyRequest): string;
  /** The pod's name in what stands for it in the path, which is what is authorized. Default: it is the name. */
  nameOf?(text: string): string;
  /** Whether all paths below this one are meant too, and bodies are forwarded unread. Default false. */
  readonly isTree?: boolean;
  answer(asked: AskedPod, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>;
}

interface Admitted {
  readonly namespace: string;
  readonly name: string;
  readonly requester: string;
  readonly untilMs: number;
}

export function addPodPath(
  app: Pick<HttpsApp, 'register' | 'route'>,
  options: HttpOptions,
  { streams, counts }: { streams: WeakSet<FastifyRequest>; counts: RequestCounts },
  { subresource, methods, verb, nameOf = (text) => text, isTree = false, answer }: PodPath,
): void {
  const count = counts.of({ version: 'v1', resource: 'pods', subresource }, 'resource');
  const [pods, nodes] = [options.registry.of(podKind), options.registry.of(nodeKind)];
  const admitted = new WeakMap<FastifyRequest, Admitted>();

  async function onRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { namespace, name } = readParams(request);
    const asked = {
      resource: pods,
      subresource,
      namespace,
      name,
      verb: verb?.(request) ?? usualVerbOf(request.method),
    };
    const identity = await authenticate(request, options, () => attributesOf(asked));
    await authorizeRequest({ ...asked, user: identity.user }, options.authorizer, (attributes, decision) =>
      auditAsked(request, identity, attributes, decision),
    );
    if (!methods.includes(request.method)) throw methodNotAllowed(reply, methods);
    admitted.set(request, { namespace, name, requester: identity.user.name, untilMs: identity.untilMs });
  }

  async function handler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const asked = admitted.get(request);
    if (asked === undefined) throw new Error('a request came to its handler without being admitted');
    streams.add(request); // how long it takes is decided by others
    const pod = () => pods.encoding.read(pods.get(asked.namespace, nameOf(asked.name)));
    const node = (name: string) => ({
      node: nodes.encoding.read(nodes.get('', name)),
      named: { name, port: undefined },
    });
    return await answer(
      {
        ...asked,
        node,
        get pod() {
          return pod();
        },
      },
      request,
      reply,
    );
  }

  const url = `/api/v1/namespaces/:namespace/pods/:name/${subresource}`;
  const addTo = (scope: Pick<HttpsApp, 'route'>) => {
    for (const each of isTree ? [url, `${url}/*`] : [url]) {
      scope.route({
        method: routedMethods,
        url: each,
        onRequest,
        handler,
        onResponse(request, reply, done) {
          count(request, reply);
          done();
        },
      });
    }
  };
  if (isTree) passBodies(app, addTo);
  else addTo(app);
}

/** The container that is asked for, or the only one. Throws 400, worded as in the reference. */
export function chooseContainer({ metadata, spec }: Pod, container: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  const name = metadata?.name ?? '';
  const namesOf = (all: readonly { name: string }[]) => all.map((each) => each.name);
  if (container !== '') {
    if (namesOf([...containers, ...initContainers, ...ephemeralContainers]).includes(container))
      return container;
    throw new StatusError('BadRequest', `container ${container} is not valid for pod ${name}`);
  }
  const [only] = containers;
  if (only !== undefined && containers.length === 1) return only.name;
  const choice = `a container name must be specified for pod ${name}, choose one of: [${namesOf(containers).join(' ')}]`;
  const more =
    initContainers.length === 0
      ? ''
      : ` or one of the init containers: [${namesOf(initContainers).join(' ')}]`;
  throw new StatusError('BadRequest', choice + more);
}

/** A path at the agent, its parts as they are. */
export function agentPath(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

function readParams({ params }: FastifyRequest): { namespace: string; name: string } {
  const read = (name: string): string => {
    const value: unknown =
      typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  return { namespace: read('namespace'), name: read('name') };
}
