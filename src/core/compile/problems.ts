import { closest, distance } from 'fastest-levenshtein';
import type { Problem } from '../types.ts';

/** Where a record stands: the file, and the path of its place in it. */
export interface Place {
  readonly file: string;
  /** `policies[2]`; empty for the whole file. */
  readonly path: string;
}

/** The place of a member or an element below a place. */
export function below({ file, path }: Place, ...steps: readonly (string | number)[]): Place {
  let longer = path;
  for (const step of steps) {
    if (typeof step === 'number') longer += `[${step}]`;
    else if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) longer += `[${JSON.stringify(step.slice(0, 100))}]`;
    else longer += longer === '' ? step : `.${step}`;
  }
  return { file, path: longer };
}

/** A problem whose sentence begins with the place: "`policies[2].action` is missing." */
export function problem(
  { file, path }: Place,
  predicate: string,
  level: Problem['level'] = 'error',
): Problem {
  const subject = path === '' ? `\`${file}\`` : `\`${path}\``;
  const words = `${subject} ${predicate}`;
  return { file, path, message: /[.?!]$/.test(words) ? words : `${words}.`, level };
}

/** "; did you mean `data_tags`?" where a known name is near, else nothing. */
export function suggestion(written: string, known: readonly string[]): string {
  if (known.length === 0 || written.length > 64) return '';
  const nearest = closest(written.toLowerCase(), [...known]);
  // Two letters in the wrong order are a distance of two.
  const near = nearest.length < 4 ? 1 : Math.max(2, Math.floor(nearest.length / 3));
  const isNear = distance(written.toLowerCase(), nearest) <= near;
  return isNear ? `; did you mean \`${nearest}\`?` : '';
}

/** "`a`, `b` or `c`". */
export function listed(names: readonly unknown[]): string {
  const quoted = names.map((name) => `\`${String(name)}\``);
  if (quoted.length < 2) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')} or ${quoted[quoted.length - 1]}`;
}
