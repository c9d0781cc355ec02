import type { Job, Pod } from '../../../api/index.ts';
import type { Workload } from '../pod-control.ts';
import { podFromTemplate } from '../pod-from-template.ts';
import { failureCountKey, ignoredFailureCountKey, indexKey, trackingFinalizer } from './job-pods.ts';
import type { NewPod } from './pods-wanted.ts';

/** The pod of a Job that is to be made. */
export function createJobPod(job: Job, workload: Workload, wanted: NewPod): Pod {
  const pod = podFromTemplate(job.spec?.template, workload.reference, workload.namespace);
  const { finalizers = [], ...metadata } = pod.metadata ?? {};
  const others = finalizers.filter((each) => each !== trackingFinalizer);
  const tracked = { ...pod, metadata: { ...metadata, finalizers: [...others, trackingFinalizer] } };
  return wanted.index === undefined
    ? tracked
    : withIndex(tracked, workload.reference.name, wanted.index, wanted);
}

/** A prefix of this length leaves room for what the API adds to it. */
const maxPrefix = 58;

function withIndex(pod: Pod, job: string, index: number, { failures }: NewPod): Pod {
  const { metadata, spec } = pod;
  const end = `-${index}-`;
  const text = String(index);
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName: job.slice(0, maxPrefix - end.length) + end,
      labels: { ...metadata?.labels, [indexKey]: text },
      annotations: { ...metadata?.annotations, [indexKey]: text, ...failureAnnotations(failures) },
    },
    ...(spec === undefined ? {} : { spec: { ...withIndexVariable(spec), hostname: `${job}-${index}` } }),
  };
}

function failureAnnotations(failures: NewPod['failures']): Record<string, string> {
  if (failures === undefined) return {};
  const { counted, ignored } = failures;
  return {
    [failureCountKey]: String(counted),
    ...(ignored > 0 ? { [ignoredFailureCountKey]: String(ignored) } : {}),
  };
}

const variable = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${indexKey}']` } },
};

type PodSpec = NonNullable<Pod['spec']>;

/** A container that has a variable of that name keeps it. */
function withIndexVariable(spec: PodSpec): PodSpec {
  const extend = (containers: PodSpec['containers']) =>
    containers.map((container) =>
      container.env?.some(({ name }) => name === variable.name)
        ? container
        : { ...container, env: [...(container.env ?? []), variable] },
    );
  const { initContainers, containers } = spec;
  return {
    ...spec,
    containers: extend(containers),
    ...(initContainers === undefined ? {} : { initContainers: extend(initContainers) }),
  };
}
