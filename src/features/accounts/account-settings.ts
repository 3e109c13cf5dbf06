import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { readPublicUrl } from '../../runtime/access/public-url.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { AccountSettings } from './types.ts';

/** Reads the settings of sign-in from the configuration. `port` is the one that the service listens on. */
export function readAccountSettings(
  config: Pick<Config, 'auth' | 'server' | 'state_dir'>,
  port?: number,
): AccountSettings {
  const {
    auth: { session, sign_in, oidc },
    state_dir,
  } = config;
  return {
    idle_ms: parseDurationMs(session.idle_timeout),
    absolute_ms: parseDurationMs(session.absolute_timeout),
    attempts_per_account_max: sign_in.attempts_per_account_max,
    attempts_per_address_max: sign_in.attempts_per_address_max,
    attempts_window_ms: parseDurationMs(sign_in.attempts_window),
    attempt_delay_ms: parseDurationMs(sign_in.attempt_delay),
    link_ms: parseDurationMs(sign_in.link_ttl),
    totp_key: { state_dir, key: sign_in.totp_key ?? null },
    oidc,
    public_url: readPublicUrl(config, port),
  };
}
