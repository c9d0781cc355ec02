import type { FastifyReply, FastifyRequest } from 'fastify';
import { upgradeOf } from '../../../base/https/index.ts';
import type { PodProxy } from '../../node-proxy/index.ts';
import { readPodName, splitProxiedPath } from '../../node-proxy/index.ts';
import { bodyLimitBytes } from '../errors.ts';
import { answering, declinedTo, proxiedMethods } from '../node-proxy.ts';
import type { PodPath } from './path.ts';

const form = /^\/api\/v1\/namespaces\/[^/]+\/pods\/([^/]+)\/proxy(\/.*)?$/;

/** `/api/v1/namespaces/NAMESPACE/pods/NAME[:PORT]/proxy/…`: a port of the pod, from this machine. */
export function podProxy(proxy: PodProxy, stopping: AbortSignal): PodPath {
  return {
    subresource: 'proxy',
    methods: proxiedMethods,
    isTree: true,
    nameOf: (text) => readPodName(text).name,
    async answer(asked, request, reply) {
      const { pod, namespace, requester, untilMs } = asked;
      const { target, rest } = splitProxiedPath(request.url, form);
      if (isFolder(rest, request)) return redirectBelow(request, reply);
      const passed = {
        ...{ pod, namespace, requester, untilMs, target, bodyLimitBytes },
        ...answering(request, reply),
        named: readPodName(asked.name),
        prefix: `/api/v1/namespaces/${namespace}/pods/${asked.name}/proxy`,
      };
      const upgrade = upgradeOf(request.raw);
      if (upgrade !== undefined) return declinedTo(reply, await proxy.join({ ...passed, upgrade, stopping }));
      await proxy.pass(passed);
      return undefined;
    },
  };
}

/** A page's own links are below it only where its path ends with a slash. */
function isFolder(rest: string, { method, url }: FastifyRequest): boolean {
  const asksByParameter = new URLSearchParams(url.split('?')[1] ?? '').has('path');
  return rest === '' && !asksByParameter && ['GET', 'HEAD'].includes(method);
}

function redirectBelow({ url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const at = url.indexOf('?');
  const [path, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)];
  return reply.code(301).header('location', `${path}/${query}`).send();
}
