import { PACKAGE_NAME } from '../../core/names.ts';
import { HttpFailure, openHttpClient } from '../../platform/net/http-client.ts';
import { buildWebhookHeaders, type SignedMessage } from '../../platform/net/webhook-signature.ts';

export interface ApprovalWebhook {
  readonly url: string;
  readonly secret: string;
  readonly timeout_ms: number;
  readonly max_attempts: number;
  readonly allow_link_local: boolean;
}

export type WebhookResult = { readonly taken: true } | { readonly taken: false; readonly reason: string };

/**
 * Sends one message with the headers of Standard Webhooks. A status from 200 to 299 means delivered. Redirects
 * are not followed. Never rejects.
 */
export async function postWebhook(message: SignedMessage, webhook: ApprovalWebhook): Promise<WebhookResult> {
  const { url, secret, timeout_ms, allow_link_local } = webhook;
  const client = openHttpClient({ env: process.env, allow_link_local });
  try {
    const { status } = await client.call({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/json',
        'user-agent': PACKAGE_NAME,
        ...buildWebhookHeaders(message, secret),
      },
      body: message.body,
      signal: AbortSignal.timeout(timeout_ms),
      // The body of the response is not needed.
      response_bytes_max: 0,
    });
    return status >= 200 && status < 300
      ? { taken: true }
      : { taken: false, reason: `It answered ${status}.` };
  } catch (fault) {
    return { taken: false, reason: getReason(fault) };
  } finally {
    await client.close();
  }
}

/** Returns the system's error code, never the configured address, because that may contain a password. */
function getReason(fault: unknown): string {
  if (!(fault instanceof HttpFailure)) return 'It could not be reached.';
  if (fault.kind === 'link_local')
    return 'Its address is a link-local one, where clouds keep credentials; `approvals.webhook.allow_link_local` allows it.';
  if (fault.kind === 'timeout') return 'It did not answer in time.';
  return fault.code === null ? 'It could not be reached.' : `It could not be reached (${fault.code}).`;
}
