import type { ShellWord } from './syntax.ts';

/** Long options of programs that accept a unique prefix: `rm --rec --forc`. */
const LONG_OPTIONS: readonly (readonly [names: string, options: string])[] = [
  [
    'rm',
    'force recursive interactive no-preserve-root preserve-root one-file-system dir verbose help version',
  ],
  [
    'chmod chown chgrp',
    'recursive reference preserve-root no-preserve-root verbose quiet changes help version',
  ],
  ['shred', 'force iterations remove size verbose exact zero random-source help version'],
  ['truncate', 'size reference no-create io-blocks help version'],
  ['base64 base32', 'decode wrap ignore-garbage help version'],
  ['sed', 'in-place expression file quiet regexp-extended null-data separate help version'],
  // The words of the wrapped command are among its own words.
  ['env', 'split-string'],
  ['wget', 'post-file post-data body-file body-data output-document quiet method header'],
  ['tar', 'checkpoint checkpoint-action to-command use-compress-program extract create file'],
  [
    'git',
    'hard soft mixed merge keep force force-with-lease force-if-includes delete mirror prune all tags dry-run no-verify staged worktree cached amend exec exec-path recursive tree-filter index-filter',
  ],
];

const OPTIONS = new Map(
  LONG_OPTIONS.flatMap(([names, options]) =>
    names.split(' ').map((name) => [name, options.split(' ')] as const),
  ),
);

/** Returns the words with long options written in full. An ambiguous or unknown option is kept. */
export function expandLongOptions(name: string, words: readonly ShellWord[]): readonly ShellWord[] {
  const options = OPTIONS.get(name);
  if (options === undefined || !words.some(({ text }) => text.startsWith('--') && text.length > 2))
    return words;
  return words.map((word) => {
    const [, begun, rest] = /^--([a-z][\w-]*)(=[\s\S]*)?$/.exec(word.text) ?? [];
    if (begun === undefined || options.includes(begun)) return word;
    const found = options.filter((option) => option.startsWith(begun));
    return found.length === 1 ? { ...word, text: `--${found[0]}${rest ?? ''}` } : word;
  });
}
