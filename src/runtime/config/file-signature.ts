import { stat } from 'node:fs/promises';

/**
 * Returns a text that is the same exactly as long as a file has not changed; the error code if there is none. Follows
 * links, because a link with another target is another file.
 */
export async function signFile(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
