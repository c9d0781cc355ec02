import { field, int32, int64, intOrString, list, required, string, struct } from '../../schema/index.ts';
import { pointer } from './wire.ts';

/* Probes of a running container, and the hooks of its lifecycle. */

const execAction = struct('ExecAction', {
  command: field(1, list(string), 'Command and arguments; run without a shell.'),
});

const httpHeader = struct('HTTPHeader', {
  name: required(1, string, 'Name of the header.'),
  value: required(2, string, 'Value of the header.'),
});

export const httpGetAction = struct('HTTPGetAction', {
  path: field(1, string, 'Path to ask for.'),
  port: required(2, intOrString, 'Number or name of the port.'),
  host: field(3, string, 'Host to ask; the address of the pod when absent.'),
  scheme: field(4, string, 'HTTP or HTTPS.'),
  httpHeaders: field(5, list(httpHeader), 'Headers to send.'),
});

const tcpSocketAction = struct('TCPSocketAction', {
  port: required(1, intOrString, 'Number or name of the port.'),
  host: field(2, string, 'Host to connect to; the address of the pod when absent.'),
});

const grpcAction = struct('GRPCAction', {
  port: required(1, int32, 'Number of the port.'),
  service: field(2, string, 'Name of the service to ask about (gRPC health checking).', {
    pointer: true,
    written: true,
  }),
});

const sleepAction = struct('SleepAction', {
  seconds: required(1, int64, 'How long to sleep.'),
});

const ofHandler = { within: 1 } as const;

export const probe = struct('Probe', {
  exec: field(1, execAction, 'A command that must exit with 0.', ofHandler),
  httpGet: field(2, httpGetAction, 'A request that must be answered with 200 to 399.', ofHandler),
  tcpSocket: field(3, tcpSocketAction, 'A port that must accept connections.', ofHandler),
  grpc: field(4, grpcAction, 'A health service that must answer SERVING.', ofHandler),
  initialDelaySeconds: field(2, int32, 'How long after the start probing begins.'),
  timeoutSeconds: field(3, int32, 'How long an answer may take.'),
  periodSeconds: field(4, int32, 'How often to probe.'),
  successThreshold: field(5, int32, 'So many successes in a row mean success.'),
  failureThreshold: field(6, int32, 'So many failures in a row mean failure.'),
  terminationGracePeriodSeconds: field(
    7,
    int64,
    'Grace for a container that is stopped because the probe failed.',
    pointer,
  ),
});

export const lifecycleHandler = struct('LifecycleHandler', {
  exec: field(1, execAction, 'A command to run.'),
  httpGet: field(2, httpGetAction, 'A request to send.'),
  tcpSocket: field(3, tcpSocketAction, 'Deprecated; does nothing.'),
  sleep: field(4, sleepAction, 'A pause.'),
});

export const lifecycle = struct('Lifecycle', {
  postStart: field(1, lifecycleHandler, 'Done right after the container was made.'),
  preStop: field(2, lifecycleHandler, 'Done before the container is stopped.'),
  stopSignal: field(3, string, 'Signal that asks the container to stop.', pointer),
});
