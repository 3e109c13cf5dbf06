import { userInfo } from 'node:os';

/** The name of the operating system's user who runs this process; `uid-1000` where that has no name. */
export function osUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry in the password file, as containers have it.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
