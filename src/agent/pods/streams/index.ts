/** Streams into containers: exec, attach and port-forward. */
export { type StreamedPods, streamRoutes } from './routes.ts';
