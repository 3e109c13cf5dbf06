import type { ReactNode } from 'react';
import { SafeText } from './safe-text.tsx';

/** The words that start the program: `./customshouse` in a checkout, and another name in the npm package (`npm run console -- --package`). */
const PROGRAM: string = import.meta.env.VITE_PROGRAM ?? './customshouse';

/** Returns a command as it can be typed here: `customshouse logs` becomes `./customshouse logs` in a checkout. */
export function nameProgram(command: string): string {
  return command.replace(/^customshouse (?=[a-z])/, `${PROGRAM} `);
}

/** Shows a command in a sentence. */
export function Command({ text }: { readonly text: string }) {
  return (
    <code>
      <SafeText text={nameProgram(text)} />
    </code>
  );
}

/** Shows a sentence of the service. Parts between backticks are code, and commands can be typed as they stand. */
export function Prose({ text }: { readonly text: string | null | undefined }) {
  if (text === null || text === undefined || text === '') return <SafeText text={text} />;
  return <>{splitCode(text)}</>;
}

function splitCode(text: string): ReactNode[] {
  const parts = text.split('`');
  // A backtick without a partner stays as it is.
  const closed = parts.length % 2 === 1 ? parts.length : parts.length - 2;
  const nodes: ReactNode[] = [];
  for (const [index, part] of parts.slice(0, closed).entries()) {
    if (part === '') continue;
    nodes.push(index % 2 === 1 ? <Command key={index} text={part} /> : <SafeText key={index} text={part} />);
  }
  if (closed < parts.length) nodes.push(<SafeText key="rest" text={parts.slice(closed).join('`')} />);
  return nodes;
}
