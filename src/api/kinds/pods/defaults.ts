import { defaultVolume } from './default-volumes.ts';
import { pullPolicyOf } from './pull-policy.ts';
import type {
  Container,
  EnvVar,
  EphemeralContainer,
  HTTPGetAction,
  Lifecycle,
  PodSpec,
  Probe,
} from './types.ts';

/*
 * The defaults of a pod, as in the reference. Objects are changed in place. An empty text and a zero count as absent where
 * the reference cannot distinguish the two.
 */

/** Of a pod: what it gets beyond its template. A template says only what its writer has said, so that it can change later. */
export function defaultPod(spec: PodSpec): void {
  defaultPodSpec(spec);
  spec.enableServiceLinks ??= true;
  defaultPodRequests(spec);
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if (spec.hostNetwork) for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
    container.resources = withRequests(container.resources);
  }
}

/** Of a pod, and of the template of pods. */
export function defaultPodSpec(spec: PodSpec): void {
  spec.restartPolicy ||= 'Always';
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.schedulerName ||= 'default-scheduler';
  spec.terminationGracePeriodSeconds ??= 30;
  spec.securityContext ??= {};
  defaultServiceAccount(spec);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  const { initContainers = [], containers = [], ephemeralContainers = [] }: Partial<PodSpec> = spec;
  for (const container of [...initContainers, ...containers, ...ephemeralContainers]) {
    defaultContainer(container);
    container.resources ??= {};
  }
}

/** The field has two names with the same meaning; the newer one wins. */
function defaultServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** For the pod as a whole, the limits are the requests of resources that no container requests. */
function defaultPodRequests(spec: PodSpec): void {
  if (spec.resources?.limits === undefined) return;
  const asked = new Set(spec.containers?.flatMap(({ resources }) => Object.keys(resources?.requests ?? {})));
  const limits = Object.entries(spec.resources.limits).filter(([name]) => !asked.has(name));
  if (limits.length > 0) {
    spec.resources.requests = { ...Object.fromEntries(limits), ...spec.resources.requests };
  }
}

/** A resource with a limit and without a request gets a request equal to the limit. */
function withRequests(resources: Container['resources']): NonNullable<Container['resources']> {
  if (resources?.limits === undefined || Object.keys(resources.limits).length === 0) return resources ?? {};
  return { ...resources, requests: { ...resources.limits, ...resources.requests } };
}

function defaultContainer(container: Container | EphemeralContainer): void {
  container.imagePullPolicy ||= pullPolicyOf(container.image ?? '');
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  for (const variable of container.env ?? []) defaultVariable(variable);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe !== undefined) defaultProbe(probe);
  }
  if (container.lifecycle !== undefined) defaultLifecycle(container.lifecycle);
}

function defaultVariable({ valueFrom }: EnvVar): void {
  if (valueFrom?.fieldRef !== undefined) valueFrom.fieldRef.apiVersion ||= 'v1';
  if (valueFrom?.resourceFieldRef !== undefined) valueFrom.resourceFieldRef.divisor ??= '0';
  if (valueFrom?.fileKeyRef !== undefined) valueFrom.fileKeyRef.optional ??= false;
}

function defaultProbe(probe: Probe): void {
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  if (probe.grpc !== undefined) probe.grpc.service ??= '';
  if (probe.httpGet !== undefined) defaultHttpGet(probe.httpGet);
}

function defaultLifecycle({ postStart, preStop }: Lifecycle): void {
  if (postStart?.httpGet !== undefined) defaultHttpGet(postStart.httpGet);
  if (preStop?.httpGet !== undefined) defaultHttpGet(preStop.httpGet);
}

function defaultHttpGet(action: HTTPGetAction): void {
  action.path ||= '/';
  action.scheme ||= 'HTTP';
}
