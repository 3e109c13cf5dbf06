/** Injections, words next to them, and the layouts in which tools return both. */
import { readFileSync } from 'node:fs';

export const { injections, neighbours, talk } = JSON.parse(
  readFileSync(new URL('wrapped.json', import.meta.url), 'utf8'),
) as Record<'injections' | 'neighbours' | 'talk', readonly string[]>;

const json = (value: unknown, indent?: number): string => JSON.stringify(value, null, indent);

/** The text with an injection and its neighbour. Escapes of the second half show that they hide nothing. */
export const WRAPPINGS: Readonly<Record<string, (text: string, near: string) => string>> = {
  value: (text, near) => json({ title: near, body: text }),
  before: (text, near) => json({ body: text, title: near }),
  key: (text, near) => json({ [text]: near }),
  'below a key': (text, near) => json({ [near]: text }),
  nested: (text, near) => json({ a: { b: [{ title: near }, { body: text }] } }),
  array: (text, near) => json([near, text, near]),
  'pretty-printed': (text, near) => json({ title: near, body: text }, 2),
  escaped: (text, near) => json({ path: 'a\\b\n', title: near, body: `${text}\n` }),
  'in JSON': (text, near) => json({ payload: json({ title: near, body: text }) }),
  'in JSON in JSON': (text, near) => json({ payload: json({ payload: json({ title: near, body: text }) }) }),
  'per line': (text, near) =>
    [{ title: near }, { title: near, body: `x\n${text}` }].map((each) => json(each)).join('\n'),
  'in JSON per line': (text, near) =>
    [{ title: near }, { p: json({ title: near, body: text }) }].map((each) => json(each)).join('\n'),
  fenced: (text, near) => `Here:\n\`\`\`json\n${json({ title: near, body: `x\n${text}` }, 2)}\n\`\`\`\n`,
  'in prose': (text, near) => `The result of ${near}: ${json({ title: near, body: text })} That is all.`,
  base64: (text, near) => `data ${Buffer.from(json({ title: near, body: `x\n${text}` })).toString('base64')}`,
};
