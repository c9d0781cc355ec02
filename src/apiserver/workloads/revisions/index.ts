export { type Fields, hashData, keptTemplate } from './revision-data.ts';
export { type RevisedWorkload, RevisionKeeper, type SettledRevisions } from './revision-keeper.ts';
