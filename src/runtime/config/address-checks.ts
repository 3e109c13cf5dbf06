import { isLoopbackHost } from '../../platform/net/loopback.ts';
import type { ValueProblem } from './parse-config-value.ts';
import type { PathStep } from './problem-path.ts';

/**
 * Checks the URL of a webhook. An IP address is checked here; the addresses of a host name are checked with each
 * message.
 *
 * @param steps - the path of the URL, for the problem
 */
export function checkWebhookAddress(
  { url, allow_link_local }: { readonly url: string; readonly allow_link_local: boolean },
  steps: readonly PathStep[],
): ValueProblem[] {
  if (!URL.canParse(url)) return [{ steps, message: 'is no address that can be called' }];
  if (!isLinkLocalHost(new URL(url).host) || allow_link_local) return [];
  const message =
    'is a link-local address, where clouds serve credentials of machines; if it is intended, set `allow_link_local` next to it';
  return [{ steps, message }];
}

/** Returns whether the host of a URL is a link-local IP address. */
export function isLinkLocalHost(host: string): boolean {
  return /^(169\.254\.|\[fe[89ab][0-9a-f]:)/.test(host);
}

/** Returns whether a URL is encrypted, or leads to this machine. */
export function isSecureAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isLoopbackHost(hostname);
}
