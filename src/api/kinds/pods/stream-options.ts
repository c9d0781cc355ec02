import { bool, field, int32, list, string, struct } from '../../schema/index.ts';
import { defineBody } from '../define.ts';

/* The queries of requests for streams into a pod and to its ports; they are never sent as objects. */

const common = {
  stdin: field(1, bool, 'Whether there is a standard input.'),
  stdout: field(2, bool, 'Whether there is a standard output.'),
  stderr: field(3, bool, 'Whether there is a standard error; not with a terminal.'),
  tty: field(4, bool, 'Whether the streams are those of a terminal.'),
  container: field(5, string, 'In which container; may be left out where the pod has one.'),
};

const typed = (kind: string) => ({
  apiVersion: field(0, string, 'v1.'),
  kind: field(0, string, `${kind}.`),
});

export const podExecOptions = defineBody({
  group: '',
  version: 'v1',
  kind: 'PodExecOptions',
  doc: 'A command that is run in a container.',
  root: struct('PodExecOptions', {
    ...typed('PodExecOptions'),
    ...common,
    command: field(6, list(string), 'The program and its arguments; no shell reads them.'),
  }),
});

export const podAttachOptions = defineBody({
  group: '',
  version: 'v1',
  kind: 'PodAttachOptions',
  doc: 'The streams of the first process of a container.',
  root: struct('PodAttachOptions', { ...typed('PodAttachOptions'), ...common }),
});

export const podPortForwardOptions = defineBody({
  group: '',
  version: 'v1',
  kind: 'PodPortForwardOptions',
  doc: 'Connections to ports of a pod.',
  root: struct('PodPortForwardOptions', {
    ...typed('PodPortForwardOptions'),
    ports: field(1, list(int32), 'The ports, which clients over WebSocket name beforehand.'),
  }),
});

export const podProxyOptions = defineBody({
  group: '',
  version: 'v1',
  kind: 'PodProxyOptions',
  doc: 'A request to a port of a pod.',
  root: struct('PodProxyOptions', {
    ...typed('PodProxyOptions'),
    path: field(1, string, 'What is asked for at the pod, where the path of the request does not say it.'),
  }),
});
