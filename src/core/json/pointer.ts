import type { Json } from '../types/index.ts';

/** Returns the steps of a JSON pointer in its URI form, `#/$defs/a~1b`. */
export function parsePointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * Returns the value at a pointer such as `#/$defs/x`; `undefined` if there is none or the pointer is not of that
 * form.
 */
export function resolvePointer(root: Json, pointer: string): Json | undefined {
  if (pointer !== '#' && !pointer.startsWith('#/')) return undefined;
  let at: Json | undefined = root;
  for (const step of parsePointer(pointer)) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, step)) return undefined;
    at = (at as { readonly [key: string]: Json })[step];
  }
  return at;
}
