export {
  historyNameOf,
  historyNamespace,
  maxAgeDays,
  maxTransitions,
  parseHistory,
  type Transition,
} from './record.ts';
export { nodeHistory } from './service.ts';
