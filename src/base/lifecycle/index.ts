export { type ManagerOptions, runServices } from './manager.ts';
export { type Service, untilAborted } from './service.ts';
export {
  createNotifier,
  type Notifier,
  type NotifyEnvironment,
  watchdogIntervalMs,
} from './systemd-notify.ts';
