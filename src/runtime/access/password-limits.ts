/** The shortest password. NIST SP 800-63B-4 asks for 15 characters where a password is the only factor. */
export const PASSWORD_CHARS_MIN = 15;
export const PASSWORD_CHARS_MAX = 256;
