/**
 * The texts that `customshouse doctor` sends through a hook. They name no program, because a broken hook may let the agent
 * run them. The first is denied whatever the policy says; the second is evaluated like any other text.
 */
export const PROBE_TEXTS = {
  block: 'service-doctor-probe block',
  pass: 'service-doctor-probe pass',
} as const;
