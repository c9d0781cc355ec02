export { type Backoff, type BackoffOptions, createBackoff } from './backoff.ts';
export { BoundedMap, type BoundedMapOptions } from './bounded-map.ts';
export { askGit, type Build, readBuild, registerBuildInfo } from './build.ts';
export { type Clock, systemClock } from './clock.ts';
export { forEachConcurrently, mapConcurrently } from './concurrently.ts';
export { type AwaitedCall, DeadlineError, type DeadlineLimits, noReason, withDeadline } from './deadline.ts';
export { durationMs, formatDuration, parseDuration } from './duration.ts';
export { describeError, type ExitCode, ExitError, errorCode, exitCodes, ReasonError } from './errors.ts';
export { EventLoopYielder } from './event-loop-yielder.ts';
export { createFileFollower, type FileFollowerOptions } from './file-follower.ts';
export {
  ensurePrivateFolder,
  makeFolders,
  type ReadOptions,
  readRegularFile,
  SharedFolderSync,
  syncFolder,
  writeFileAtomic,
} from './files.ts';
export { isRecord, tryParseJson, tryParseRecord } from './json.ts';
export {
  findKernelCount,
  parseKernelCount,
  readKernelFile,
  readKernelFolder,
  readKernelNumber,
} from './kernel-file.ts';
export { createLatest, type Latest } from './latest.ts';
export * from './lifecycle/index.ts';
export { Listeners } from './listeners.ts';
export { createLogger, type LogFormat, type Logger, type LogLevel, logLevels, silentLogger } from './log.ts';
export { Counter, createMetrics, Gauge, Histogram, MetricsRegistry } from './metrics.ts';
export { KeyedMutex, Mutex } from './mutex.ts';
export { findNearestName } from './nearest-name.ts';
export { type PeerCertificate, readPeerCertificate } from './peer-certificate.ts';
export { createRecentReader } from './recent.ts';
export { Semaphore } from './semaphore.ts';
export { SingleFlight } from './single-flight.ts';
export { startChild } from './start-child.ts';
export { createTokenBuckets, type TokenBuckets } from './token-buckets.ts';
export { createWaker, type Waker } from './waker.ts';
