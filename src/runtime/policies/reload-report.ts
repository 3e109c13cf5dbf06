/** Why a reload failed: the configuration or a policy is not valid, or the service could not exchange it. */
export type ReloadFailure = 'policy_invalid' | 'reload_failed';

/** What a reload came to. A refusal keeps the policy that was there, everywhere. */
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
