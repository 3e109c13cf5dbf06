/**
 * The reason of a failed reload: the configuration or a policy is not valid, or the service could not exchange
 * it.
 */
export type ReloadFailure = 'policy_invalid' | 'reload_failed';

/** The result of a reload. After a failure, the previous policy stays active in all processes. */
export type ReloadReport =
  | {
      readonly reloaded: true;
      readonly policy_hash: string;
      readonly generation: number;
      readonly changed: boolean;
      readonly warnings: readonly string[];
    }
  | {
      readonly reloaded: false;
      readonly policy_hash: string;
      readonly problems: readonly { file: string; path: string; message: string }[];
    };

/** The most places that are shown at which a policy is less strict than the one before. */
export const WEAKER_PLACES_SHOWN_MAX = 50;
