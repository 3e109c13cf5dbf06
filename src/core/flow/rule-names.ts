/** Returns whether a contract's rule is about where values come from: `flow.arguments.recipient`, `flow.intent`. */
export function isOriginRule(rule: string): rule is `flow.${string}` {
  return /^flow\.(?:arguments\..|(?:others|intent|duplicates|unavailable)$)/s.test(rule);
}
