import { Option } from 'commander';

export interface OutputFlags {
  output?: 'json' | 'yaml';
}

export const outputOption = () =>
  new Option('-o, --output <format>', 'json or yaml (default: for people)').choices(['json', 'yaml']);
