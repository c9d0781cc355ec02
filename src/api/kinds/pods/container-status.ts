import {
  bool,
  field,
  int32,
  int64,
  list,
  map,
  quantity,
  required,
  string,
  struct,
  time,
} from '../../schema/index.ts';
import { keyed } from '../pod-spec/merge.ts';
import { resourceRequirements } from '../pod-spec/resources.ts';
import { pointer } from '../pod-spec/wire.ts';

/* The observed state of a container. */

const containerStateWaiting = struct('ContainerStateWaiting', {
  reason: field(1, string, 'Why it waits, for programs.'),
  message: field(2, string, 'Why it waits, for people.'),
});

const containerStateRunning = struct('ContainerStateRunning', {
  startedAt: field(1, time, 'When it started.', { written: true }),
});

const containerStateTerminated = struct('ContainerStateTerminated', {
  exitCode: required(1, int32, 'Exit code.'),
  signal: field(2, int32, 'Signal that ended it.'),
  reason: field(3, string, 'Why it ended, for programs.'),
  message: field(4, string, 'Why it ended, for people.'),
  startedAt: field(5, time, 'When it started.', { written: true }),
  finishedAt: field(6, time, 'When it ended.', { written: true }),
  containerID: field(7, string, 'Which container it was.'),
});

export const containerState = struct('ContainerState', {
  waiting: field(1, containerStateWaiting, 'It waits.'),
  running: field(2, containerStateRunning, 'It runs.'),
  terminated: field(3, containerStateTerminated, 'It has ended.'),
});

const volumeStatus = struct('VolumeStatus', {
  image: field(
    1,
    struct('ImageVolumeStatus', { imageRef: field(1, string, 'The image, with its digest.') }),
    'What an image volume holds.',
  ),
});

const volumeMountStatus = struct('VolumeMountStatus', {
  name: required(1, string, 'Name of the volume.'),
  mountPath: required(2, string, 'Path in the container.'),
  readOnly: field(3, bool, 'Whether the mount is read-only.'),
  recursiveReadOnly: field(4, string, 'Disabled, IfPossible or Enabled.', pointer),
  volumeStatus: field(5, volumeStatus, 'State of the volume.'),
});

const linuxContainerUser = struct('LinuxContainerUser', {
  uid: required(1, int64, 'UID of the first process.'),
  gid: required(2, int64, 'GID of the first process.'),
  supplementalGroups: field(3, list(int64), 'Further groups of the first process.'),
});

const containerUser = struct('ContainerUser', {
  linux: field(1, linuxContainerUser, 'Identity on Linux.'),
});

const resourceHealth = struct('ResourceHealth', {
  resourceID: required(1, string, 'Which device.'),
  health: field(2, string, 'Healthy, Unhealthy or Unknown.'),
  message: field(6, string, 'Why, for people.', pointer),
});

const resourceStatus = struct('ResourceStatus', {
  name: required(1, string, 'Name of the resource.'),
  resources: field(2, list(resourceHealth, { list: 'map', keys: ['resourceID'] }), 'Health of each device.'),
});

export const containerStatus = struct('ContainerStatus', {
  name: required(1, string, 'Name of the container.'),
  state: field(2, containerState, 'What it does now.', { default: {} }),
  lastState: field(3, containerState, 'How it ended the last time.', { default: {} }),
  ready: required(4, bool, 'Whether it is ready.'),
  restartCount: required(5, int32, 'How often it was restarted.'),
  image: required(6, string, 'Image that runs.'),
  imageID: required(7, string, 'ID of the image.'),
  containerID: field(8, string, 'ID of the container, type://id.'),
  started: field(9, bool, 'Whether it has started and its startup probe succeeded.', pointer),
  allocatedResources: field(10, map(quantity), 'What the node has set apart for it.'),
  resources: field(11, resourceRequirements, 'What is in force for it.'),
  volumeMounts: field(12, list(volumeMountStatus, keyed('mountPath')), 'Mounts as they are.'),
  user: field(13, containerUser, 'Who its first process runs as.'),
  allocatedResourcesStatus: field(
    14,
    list(resourceStatus, keyed('name')),
    'Health of the devices that it got.',
  ),
  stopSignal: field(15, string, 'Signal that asks it to stop.', pointer),
});
