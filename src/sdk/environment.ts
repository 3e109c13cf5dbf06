/** Returns an environment variable; `undefined` if it is empty, not set, or the platform has none. */
export function readVariable(name: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
    const value = process?.env?.[name];
    return value === '' ? undefined : value;
  } catch {
    // Deno asks for a permission.
    return undefined;
  }
}
