export { completionCommand } from './command.ts';
export { renderCompletion, type Shell, shells } from './completion.ts';
export { renderManPages } from './man.ts';
export { renderMarkdown } from './markdown.ts';
export { type CommandPage, listPages, nameOfPage, toPage } from './tree.ts';
