const TOKEN_CHARS_MAX = 16_384;

/** Returns whether a credential has the three parts of a JWT. */
export function looksLikeJwt(credential: string): boolean {
  return credential.length <= TOKEN_CHARS_MAX && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential);
}
