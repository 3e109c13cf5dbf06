import { userInfo } from 'node:os';

/** Returns the name of the operating system user; `uid-1000` if the user has no name. */
export function getOsUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // Containers often have a user id without an entry in the password file.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
