export { openWebhook, type WebhookOptions } from './webhook.ts';
