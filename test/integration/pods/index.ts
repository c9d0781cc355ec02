/** Nodes of the lab that run pods, with what tests and benchmarks ask of them. */

export { containerOf, isRunningAndReady, isTrue, uidOf, waitingReason } from './conditions.ts';
export {
  type Container,
  ending,
  forkBomb,
  noting,
  type PodSpec,
  script,
  sharedVolume,
  sleeper,
  stubborn,
  webServer,
} from './containers.ts';
export { grpcHealthServer } from './grpc-health.ts';
export { followsLogs, showsLogs, tellsWhyNoLog } from './log-stories.ts';
export { endsForWantOfMemory, tellsOfKillWhileAway } from './oom-stories.ts';
export { type PodNode, type PodNodeOptions, startPodNode } from './pod-node.ts';
export { reboot } from './reboot.ts';
export { endsBeforeTheMachine, prepareShutdowns, type Shutdowns } from './shutdown-story.ts';
export {
  inRuntime,
  leavesNothing,
  logOf,
  outlivesTheAgent,
  restartsOnFailure,
  runsAndTells,
  startsInOrder,
  until,
  waitsLongerEachTime,
} from './stories.ts';
export {
  askPort,
  attachPath,
  type CommandSession,
  execPath,
  type Protocol,
  protocols,
  type StreamServer,
  startCommand,
  startCommandAt,
  startForwarding,
  startForwardingAt,
  streamServerOf,
} from './stream-clients.ts';
export {
  heldBy,
  resultOf,
  runSession,
  runUntilCut,
  waitUntilNothingIsLeft,
} from './stream-sessions.ts';
export {
  attachesTo,
  copiesFiles,
  debugs,
  debugsNode,
  forwardsPorts,
  runsCommands,
  saysWhyItEnds,
  servesOtherClients,
} from './stream-stories.ts';
export { startUnifiedNode, type UnifiedNode, type UnifiedNodeOptions } from './unified-node.ts';
export { showsUsage } from './usage-stories.ts';
export { mountsImages, refusesImage, seesFiles, waitsForObject } from './volume-stories.ts';
export { type Observed, WatchedPods } from './watched-pods.ts';
