import { escapeUnprintable } from '../../core/text/unprintable.ts';

/** One step into a document: a key, or an index of a list. */
export type PathStep = string | number;

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const STEPS = /\[(\d{1,9})\]|\["((?:[^"\\]|\\.){0,500})"\]|([^.[\]]+)/g;

/** Formats a path for messages: `policies[2].action`, `tenants["a.b"].policies`; empty for the whole document. */
export function formatPath(steps: readonly PathStep[]): string {
  let path = '';
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`;
    else if (!PLAIN.test(step)) path += `[${quoteStep(step)}]`;
    else path += path === '' ? step : `.${step}`;
  }
  return path;
}

/** Quotes a step as a JSON string, and escapes characters that could rearrange a line in a terminal. */
function quoteStep(step: string): string {
  return escapeUnprintable(JSON.stringify(step.slice(0, 100)));
}

/** Parses a path that `formatPath` wrote; a leading `$` stands for the whole document. */
export function parsePath(path: string): PathStep[] {
  const steps: PathStep[] = [];
  for (const [, index, text, plain] of path.replace(/^\$\.?/, '').matchAll(STEPS)) {
    if (index !== undefined) steps.push(Number(index));
    else if (text !== undefined) steps.push(unquoteStep(text));
    else if (plain !== undefined) steps.push(plain);
  }
  return steps;
}

function unquoteStep(quoted: string): string {
  try {
    return JSON.parse(`"${quoted}"`) as string;
  } catch {
    return quoted;
  }
}
