import type { Infer } from '../../schema/index.ts';
import { field, string, struct } from '../../schema/index.ts';
import { defineBody } from '../define.ts';

const root = struct('NodeProxyOptions', {
  apiVersion: field(0, string, 'v1.'),
  kind: field(0, string, 'NodeProxyOptions.'),
  path: field(1, string, 'What is asked for at the agent, where the path of the request does not say it.'),
});

/** The query of a request to nodes/proxy; it is never sent as an object. */
export interface NodeProxyOptions extends Infer<typeof root> {}

export const nodeProxyOptions = defineBody<NodeProxyOptions>({
  group: '',
  version: 'v1',
  kind: 'NodeProxyOptions',
  doc: 'A request to the agent of a node.',
  root,
});
