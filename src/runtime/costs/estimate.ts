/** Characters of an ordinary text for one token, in the tokenizers of today's models. */
const UNITS_PER_TOKEN = 4;

/**
 * About so many tokens a text is: four UTF-16 units of ASCII each, one and a half of anything else. For a call
 * whose provider did not say what it came to. Linear.
 */
export function estimateTokens(text: string): number {
  const { plain, other } = counted(text);
  return Math.ceil(plain / UNITS_PER_TOKEN + other / 1.5);
}

/**
 * More tokens than a text is likely to be, for putting money aside: two UTF-16 units of ASCII for a token, and two
 * tokens for every other unit. Prose stays far below it; only noise (random letters, ciphertext) is denser. Linear.
 */
export function tokensAtMost(text: string): number {
  const { plain, other } = counted(text);
  return Math.ceil(plain / 2 + other * 2);
}

function counted(text: string): { plain: number; other: number } {
  let other = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) other += 1;
  return { plain: text.length - other, other };
}
