import {
  invalid,
  podKind,
  podLogOptions,
  readLogOptions,
  StatusError,
  writeLogOptions,
} from '../../../api/index.ts';
import type { NodeProxy } from '../../node-proxy/index.ts';
import { bodyLimitBytes } from '../errors.ts';
import { answering } from '../node-proxy.ts';
import { queryOf } from '../routing/request.ts';
import type { PodPath } from './path.ts';
import { agentPath, chooseContainer } from './path.ts';

/** `/api/v1/namespaces/NAMESPACE/pods/NAME/log`: what a container wrote, from the agent of its node. */
export function podLog(proxy: NodeProxy): PodPath {
  return {
    subresource: 'log',
    methods: ['GET'],
    async answer(asked, request, reply) {
      const { namespace, name, requester, untilMs } = asked;
      const wanted = readLogOptions(queryOf(request));
      const causes = podLogOptions.validate(wanted, undefined);
      if (causes.length > 0) throw invalid({ ...podKind, kind: podLogOptions.kind }, '', name, causes);
      const { pod } = asked;
      const container = chooseContainer(pod, wanted.container ?? '');
      const nodeName = pod.spec?.nodeName ?? '';
      if (nodeName === '') return reply.header('content-type', 'text/plain').send('');
      await proxy.pass({
        ...asked.node(nodeName),
        ...answering(request, reply),
        ...{ bodyLimitBytes, requester, untilMs },
        target: `${agentPath('containerLogs', namespace, name, container)}?${writeLogOptions(wanted)}`,
        prefix: '',
        isStream: true,
        refuse: (code, text) => toStatusError(code, text, name),
      });
      return undefined;
    },
  };
}

/** What the agent refuses, as the reference words it. */
function toStatusError(code: number, text: string, name: string): StatusError {
  if (code === 400) return new StatusError('BadRequest', text);
  if (code === 500) return new StatusError('InternalError', `Internal error occurred: ${text}`);
  const cause = { reason: 'UnexpectedServerResponse', message: text };
  const details = { name, kind: 'pods/log', causes: [cause] };
  if (code === 404) {
    const message = `the server could not find the requested resource ( pods/log ${name})`;
    return new StatusError('NotFound', message, { details });
  }
  return new StatusError('', `the agent of the node answered ${code}: ${text}`, { code, details });
}
