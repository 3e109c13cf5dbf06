/**
 * Sentences with which a tool definition steers the agent away from other tools or from its user. In a prompt or a
 * document they are ordinary; a definition describes its own tool.
 */
const STEERING: readonly RegExp[] = [
  // Before all others, or in their place.
  /\b(?:before|instead of|rather than|prior to|in place of|over) (?:(?:using|calling|invoking|running) )?(?:(?:any|all|every|each)(?: other)?|(?:all )?(?:of )?the other)(?: \w{1,20})? tools?\b/,
  /\b(?:do not|don't|never) (?:use|call|invoke|trust) (?:(?:any|all|the) )?(?:other|another)\b[^.\n]{0,40}\btools?\b/,
  /\b(?:ignore|disregard|avoid) (?:(?:any|all|the) )?(?:other|another) tools?\b|\banother tool\b[^.\n]{0,60}\b(?:ignore|skip|avoid) (?:it|that)\b/,
  /\b(?:use|call|invoke|run) this(?: tool)? (?:for|on|with|after|before) (?:every|each|all) (?:single )?(?:user )?(?:requests?|messages?|prompts?|quer(?:y|ies)|turns?|responses?|answers?|conversations?)\b(?! (?:about|concerning|for|in|involving|like|of|on|regarding|related|that|to|where|which|with)\b)/,
  // Other servers made to look worse.
  /\b(?:over|than|instead of|never use|do not use|don't use)\b[^.\n]{0,60}\b(?:of|from|by) (?:any |the |all )?other (?:mcp )?servers?\b/,
  /\bother (?:mcp )?(?:servers?|tools?)\b[^.\n]{0,60}\b(?:deprecated|insecure|unsafe|broken|compromised|malicious)\b/,
  // Another tool's behaviour.
  /\bwhen(?:ever)? (?:the )?[`"']?[\w-]{2,60}[`"']? (?:tool )?is (?:used|called|invoked|available)\b[^.\n]{0,120}\b(?:change|replace|redirect|forward|modify|set|send|append|add)\b/,
  // Behind the user's back.
  /\b(?:do not|don't|never|without) (?:mention|tell|inform|alert|notify|reveal)(?:ing)? (?:(?:this|that|it|anything) to )?the user\b/,
  /\b(?:pass|send|include|provide|forward|attach)\b[^.\n]{0,60}\b(?:full|entire|whole|complete) (?:conversation|chat|message history|system prompt)\b|\bsend the (?:user(?:'s)? )?prompts? here\b/,
  /\b(?:read|pass|send|include|provide|attach|open)\b[^.\n]{0,80}(?:~\/?\.(?:ssh|aws|kube|gnupg|cursor|netrc|npmrc)\b|\bid_(?:rsa|ed25519)\b|\/etc\/(?:passwd|shadow)\b)/,
];

/** Returns whether a definition's texts steer the agent. */
export function steersAgent(text: string): boolean {
  const read = text.toLowerCase().replace(/[\s\u2018\u2019]+/g, (found) => (/\s/.test(found) ? ' ' : "'"));
  return STEERING.some((pattern) => pattern.test(read));
}
