import type { Json } from '../../core/types/index.ts';
import type { AdapterTemplate } from './types.ts';

/** Returns the value at a place, or `undefined` if there is none. */
export type PlaceLookup = (place: string) => Json | undefined;

/** Any other text in braces is literal text. */
const PLACE = /\{(payload|reason|changed|\/[^{}\s]{0,200})\}/g;
const ONE_PLACE = new RegExp(`^${PLACE.source}$`);

/** A filled template, and the places without a value. */
export interface FilledTemplate {
  readonly value: Json;
  readonly missing: readonly string[];
}

/**
 * Fills in a template. Keys stay as they are written. A place without a value becomes `null`, or an empty
 * string inside a longer text. Inside a text, only strings, numbers and booleans are values.
 */
export function fillTemplate(template: AdapterTemplate, look: PlaceLookup): FilledTemplate {
  const missing: string[] = [];
  const fillIn = (inner: AdapterTemplate): Json => {
    if (typeof inner === 'string') return fillText(inner, look, missing);
    if (typeof inner !== 'object' || inner === null) return inner;
    if (Array.isArray(inner)) return inner.map(fillIn);
    return Object.fromEntries(Object.entries(inner).map(([key, each]) => [key, fillIn(each)]));
  };
  return { value: fillIn(template), missing };
}

function fillText(text: string, look: PlaceLookup, missing: string[]): Json {
  const [, whole] = ONE_PLACE.exec(text) ?? [];
  if (whole !== undefined) {
    const value = look(whole);
    if (value === undefined) missing.push(whole);
    return value ?? null;
  }
  return text.replace(PLACE, (_all, place: string) => {
    const found = look(place);
    if (found !== undefined && found !== null && typeof found !== 'object') return String(found);
    missing.push(place);
    return '';
  });
}

/** Returns whether a template contains this place. */
export function hasPlace(template: AdapterTemplate, place: string): boolean {
  if (typeof template === 'string') return template.includes(`{${place}}`);
  if (typeof template !== 'object' || template === null) return false;
  return Object.values(template).some((inner) => hasPlace(inner, place));
}

/** Returns a lookup of places in a JSON value, by JSON pointers. */
export function buildPlaceLookup(root: Json): PlaceLookup {
  return (place) => {
    if (place === 'payload') return root;
    if (!place.startsWith('/')) return undefined;
    let at: Json | undefined = root;
    for (const step of place.slice(1).split('/')) {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as Readonly<Record<string, Json>>)[key];
    }
    return at;
  };
}
