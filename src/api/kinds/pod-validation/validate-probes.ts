import { causesOf, forbiddenValue, invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { Container, HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from '../pods/types.ts';
import { checkPort, checkPortName, notNegative, oneOf } from './formats.ts';

/* Exactly one handler each, numbers in their range. */

const schemes = ['HTTP', 'HTTPS'];
const headerName = /^[-A-Za-z0-9]+$/;

/** Validates probes and lifecycle of a container that may have them; `grace` is the pod's grace period in seconds. */
export function probeCauses(container: Container, path: string, grace: number): Cause[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  return [
    ...lifecycleCauses(lifecycle, `${path}.lifecycle`, grace),
    ...oneProbeCauses(livenessProbe, `${path}.livenessProbe`),
    ...onceCauses(livenessProbe, `${path}.livenessProbe`),
    ...oneProbeCauses(readinessProbe, `${path}.readinessProbe`),
    ...noGraceCauses(readinessProbe, `${path}.readinessProbe`),
    ...oneProbeCauses(startupProbe, `${path}.startupProbe`),
    ...onceCauses(startupProbe, `${path}.startupProbe`),
  ];
}

function oneProbeCauses(probe: Probe | undefined, path: string): Cause[] {
  if (probe === undefined) return [];
  const grace = probe.terminationGracePeriodSeconds;
  return [
    ...handlerCauses(probe, path, 0),
    ...notNegative(`${path}.initialDelaySeconds`, probe.initialDelaySeconds),
    ...notNegative(`${path}.timeoutSeconds`, probe.timeoutSeconds),
    ...notNegative(`${path}.periodSeconds`, probe.periodSeconds),
    ...notNegative(`${path}.successThreshold`, probe.successThreshold),
    ...notNegative(`${path}.failureThreshold`, probe.failureThreshold),
    ...(grace !== undefined && grace <= 0
      ? [invalidValue(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
      : []),
  ];
}

function onceCauses(probe: Probe | undefined, path: string): Cause[] {
  const threshold = probe?.successThreshold ?? 1;
  return threshold === 1 ? [] : [invalidValue(`${path}.successThreshold`, threshold, 'must be 1')];
}

function noGraceCauses(probe: Probe | undefined, path: string): Cause[] {
  const grace = probe?.terminationGracePeriodSeconds;
  if (grace === undefined) return [];
  return [
    invalidValue(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes'),
  ];
}

function lifecycleCauses(lifecycle: Lifecycle | undefined, path: string, grace: number): Cause[] {
  const { postStart, preStop } = lifecycle ?? {};
  return [
    ...(postStart === undefined ? [] : handlerCauses(postStart, `${path}.postStart`, grace)),
    ...(preStop === undefined ? [] : handlerCauses(preStop, `${path}.preStop`, grace)),
  ];
}

type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & Pick<LifecycleHandler, 'sleep'>;

/** Of several handlers the first is validated, the others are refused. */
function handlerCauses(handler: Handler, path: string, grace: number): Cause[] {
  const present = (['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const).filter(
    (name) => handler[name] !== undefined,
  );
  const [first, ...others] = present;
  if (first === undefined) return [requiredValue(path, 'must specify a handler type')];
  return [
    ...actionCauses({ [first]: handler[first] }, path, grace),
    ...others.map((name) => forbiddenValue(`${path}.${name}`, 'may not specify more than 1 handler type')),
  ];
}

function actionCauses({ exec, httpGet, tcpSocket, grpc, sleep }: Handler, path: string, grace: number) {
  return [
    ...(exec !== undefined && !exec.command?.length ? [requiredValue(`${path}.exec.command`)] : []),
    ...(httpGet === undefined ? [] : httpCauses(httpGet, `${path}.httpGet`)),
    ...(tcpSocket === undefined ? [] : portCauses(tcpSocket.port, `${path}.tcpSocket.port`)),
    ...(grpc === undefined ? [] : portCauses(grpc.port, `${path}.grpc.port`)),
    ...(sleep === undefined ? [] : sleepCauses(sleep.seconds, `${path}.sleep`, grace)),
  ];
}

function httpCauses({ port, scheme, httpHeaders }: HTTPGetAction, path: string): Cause[] {
  return [
    ...portCauses(port, `${path}.port`),
    ...oneOf(`${path}.scheme`, scheme, schemes),
    ...causesOf(httpHeaders, ({ name }) =>
      invalidUnless(
        `${path}.httpHeaders`,
        name,
        headerName.test(name)
          ? undefined
          : "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ),
    ),
  ];
}

function portCauses(port: number | string, path: string): Cause[] {
  return invalidUnless(path, port, typeof port === 'number' ? checkPort(port) : checkPortName(port));
}

function sleepCauses(seconds: number, path: string, grace: number): Cause[] {
  if (seconds >= 0 && seconds <= grace) return [];
  const wrong = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  return [invalidValue(path, seconds, wrong)];
}
