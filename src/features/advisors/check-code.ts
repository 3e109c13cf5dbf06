import { execFile } from 'node:child_process';
import type { ArtifactFile } from '../../core/advisors/types.ts';
import type { ArtifactCheck, SyntaxResult } from './check-artifacts.ts';

/**
 * Calls that generated code must not have: they run text as code, start programs, or switch off checks. This finds what
 * is written plainly; it is no sandbox, and an operator reads the code before it runs.
 */
const REFUSED: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/(?<![.\w])(?:eval|exec|compile|__import__)\s*\(/, 'runs text as code (`eval`, `exec`)'],
  [/\bnew\s+Function\s*\(/, 'runs text as code (`new Function`)'],
  [
    /\b(?:__builtins__|builtins|importlib|runpy|ctypes|marshal|pickle)\b|["'](?:node:)?vm["']/,
    'loads code in a way that hides it (`importlib`, `builtins`, `pickle`, `vm`)',
  ],
  [
    /\b(?:os\.(?:system|popen|exec\w+|spawn\w+|fork)|subprocess|child_process|worker_threads|pty\.spawn)\b/,
    'starts other programs',
  ],
  [/\bfrom\s+os\s+import\b[^\n]{0,300}\b(?:system|popen|exec\w+|spawn\w+|fork)\b/, 'starts other programs'],
  [
    /\b(?:verify\s*=\s*False|NODE_TLS_REJECT_UNAUTHORIZED|rejectUnauthorized\s*:\s*false)\b/,
    'switches off TLS checks',
  ],
];

/**
 * Examines generated code without running it: refused calls, then the syntax. A file whose language cannot be parsed on
 * this machine is marked as not checked.
 */
export async function checkCode(files: readonly ArtifactFile[]): Promise<ArtifactCheck> {
  const examined = await Promise.all(files.map(examineCode));
  return {
    problems: examined.flatMap(({ problems }) => problems),
    review: { together: null, files: [] },
    syntax: Object.fromEntries(examined.map(({ path, syntax }) => [path, syntax])),
  };
}

/** Returns what a text does that generated code must not do, as predicates of a sentence. */
export function findRefusedCalls(text: string): readonly string[] {
  return REFUSED.filter(([pattern]) => pattern.test(text)).map(([, what]) => what);
}

interface ExaminedCode {
  readonly path: string;
  readonly problems: readonly string[];
  readonly syntax: SyntaxResult;
}

async function examineCode({ path, text }: ArtifactFile): Promise<ExaminedCode> {
  const refused = findRefusedCalls(text).map((what) => `The file \`${path}\` ${what}.`);
  const parsed = await parseCode(path.endsWith('.py') ? PYTHON : SCRIPT, text);
  return {
    path,
    problems: parsed.mistake === null ? refused : [...refused, `The file \`${path}\` ${parsed.mistake}.`],
    syntax: parsed.unchecked === null ? 'parsed' : `not checked: ${parsed.unchecked}`,
  };
}

/** A program that parses its input and prints one line: `ok`, or the number of the line with a mistake. */
interface SyntaxParser {
  readonly command: string;
  readonly args: readonly string[];
  /** The reason if the program does not start. */
  readonly missing: string;
  readonly mistake: string;
}

const PYTHON: SyntaxParser = {
  command: 'python3',
  args: [
    '-I',
    '-c',
    'import ast, sys\ntry:\n ast.parse(sys.stdin.buffer.read())\n print("ok")\nexcept (SyntaxError, ValueError) as e:\n print(getattr(e, "lineno", 0) or 0)',
  ],
  missing: 'there is no `python3` on this machine',
  mistake: 'has a syntax error',
};

/** Node itself, in a process of its own, because the function announces in each process that it is experimental. */
const SCRIPT: SyntaxParser = {
  command: process.execPath,
  args: [
    '--disable-warning=ExperimentalWarning',
    '-e',
    "const text = require('node:fs').readFileSync(0, 'utf8'); const strip = require('node:module').stripTypeScriptTypes; if (strip === undefined) process.exit(3); try { strip(text); console.log('ok'); } catch { console.log(0); }",
  ],
  missing: 'this Node does not parse TypeScript',
  mistake: 'has a syntax error, or TypeScript that Node cannot run without a compiler (`enum`, `namespace`)',
};

const PARSE_MS_MAX = 30_000;
/** The exit code of a program that has no parser. */
const EXIT_MISSING = 3;

interface ParsedCode {
  readonly mistake: string | null;
  readonly unchecked: string | null;
}

function parseCode({ command, args, missing, mistake }: SyntaxParser, text: string): Promise<ParsedCode> {
  return new Promise((resolve) => {
    const options = { timeout: PARSE_MS_MAX };
    const child = execFile(command, [...args], options, (error, stdout) => {
      const line = /^(?:ok|\d{1,6})$/.exec(stdout.trim())?.[0];
      if (error === null && line === 'ok') resolve({ mistake: null, unchecked: null });
      else if (error === null && line !== undefined)
        resolve({ mistake: line === '0' ? mistake : `${mistake} in line ${line}`, unchecked: null });
      // A code in words: the program did not start.
      else if (typeof error?.code === 'string' || error?.code === EXIT_MISSING)
        resolve({ mistake: null, unchecked: missing });
      // A parser that runs and fails is no excuse for the code.
      else resolve({ mistake: 'cannot be parsed: it is nested too deeply, or too long', unchecked: null });
    });
    // A program that does not start, or ends at once, closes its input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(text);
  });
}
