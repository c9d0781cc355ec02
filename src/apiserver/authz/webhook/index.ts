export { openWebhook, type Webhook, type WebhookOptions } from './webhook.ts';
