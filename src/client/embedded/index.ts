export { attachToAgent, type ChildEnd, type ParentChannel } from './child-end.ts';
export {
  type ReadyMessage,
  readToAgent,
  readToControlPlane,
  type SignMessage,
  type ToAgent,
  type ToControlPlane,
} from './messages.ts';
