import { join } from 'node:path';
import { describeError, ExitError, exitCodes } from '../../base/index.ts';
import { CredentialProviders, ImageAccess, ImageRoom, readProviders } from '../images/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import type { PodObjects } from '../objects/index.ts';
import type { AgentContext } from './context.ts';
import { openRuntimeConnection, part } from './context.ts';
import type { RunningMetrics } from './pod-metrics.ts';

/** The images of the node: pulled, remembered with their credentials, and shared by pods. */
export async function openImages(
  context: AgentContext,
  { objects, events }: { readonly objects: PodObjects; readonly events: EventRecorder },
  metrics: RunningMetrics,
): Promise<ImageRoom> {
  const { config, options, stack } = context;
  return new ImageRoom({
    connection: openRuntimeConnection(context, 'images', metrics.calls),
    metrics: metrics.images,
    timeoutMs: config.runtimeRequestTimeoutMs,
    pulls: config.images.pulls,
    access: stack.use(
      await ImageAccess.open({
        settings: config.images.access,
        path: join(options.rootDir, 'pulled-images.json'),
        ...part(context, 'images'),
      }),
    ),
    providers: await openProviders(context),
    nodeCredentialsFile: join(options.rootDir, 'config.json'),
    secrets: objects,
    events,
    ...part(context, 'images'),
  });
}

/** Throws an ExitError for a description that cannot be used. */
async function openProviders(context: AgentContext): Promise<CredentialProviders | undefined> {
  const { credentialProviders: given } = context.options;
  if (given === undefined) return undefined;
  const { file, folder } = given;
  try {
    const providers = await readProviders(file);
    return new CredentialProviders({ providers, folder, env: process.env, ...part(context, 'images') });
  } catch (error) {
    const message = `--image-credential-provider-config: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, message, { cause: error });
  }
}
