import { execFile } from 'node:child_process';
import type { ArtifactFile } from '../../core/advisors/types.ts';
import type { ArtifactCheck } from './check-artifacts.ts';

/** Calls that generated code must not have: they run text as code, start programs, or switch off checks. */
const REFUSED: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/(?<![.\w])(?:eval|exec|compile|__import__)\s*\(/, 'runs text as code (`eval`, `exec`)'],
  [/\bnew\s+Function\s*\(/, 'runs text as code (`new Function`)'],
  [/\b(?:os\.system|os\.popen|subprocess|child_process|pty\.spawn)\b/, 'starts other programs'],
  [
    /\b(?:verify\s*=\s*False|NODE_TLS_REJECT_UNAUTHORIZED|rejectUnauthorized\s*:\s*false)\b/,
    'switches off TLS checks',
  ],
];

/** Examines generated code without running it: refused calls, then the syntax. */
export async function checkCode(files: readonly ArtifactFile[]): Promise<ArtifactCheck> {
  const problems = (await Promise.all(files.map(findCodeProblems))).flat();
  return { problems, review: { together: null, files: [] } };
}

async function findCodeProblems({ path, text }: ArtifactFile): Promise<readonly string[]> {
  const refused = REFUSED.filter(([pattern]) => pattern.test(text)).map(
    ([, what]) => `The file \`${path}\` ${what}.`,
  );
  if (refused.length > 0) return refused;
  const parser = path.endsWith('.py') ? PYTHON : SCRIPT;
  const mistake = await findMistake(parser, text);
  return mistake === null ? [] : [`The file \`${path}\` has a syntax error${mistake}.`];
}

/** A program that parses its input, and prints the line of a mistake (0 if it is not known). */
interface SyntaxParser {
  readonly command: string;
  readonly args: readonly string[];
}

/** The Python of this machine. Without one the syntax is not checked. */
const PYTHON: SyntaxParser = {
  command: 'python3',
  args: [
    '-I',
    '-c',
    'import ast, sys\ntry:\n ast.parse(sys.stdin.buffer.read())\nexcept SyntaxError as e:\n print(e.lineno or 0)',
  ],
};

/** Node itself, in a process of its own, because the function announces in each process that it is experimental. */
const SCRIPT: SyntaxParser = {
  command: process.execPath,
  args: [
    '--disable-warning=ExperimentalWarning',
    '-e',
    "const text = require('node:fs').readFileSync(0, 'utf8'); try { require('node:module').stripTypeScriptTypes(text); } catch { console.log(0); }",
  ],
};

const PARSE_MS_MAX = 10_000;

function findMistake({ command, args }: SyntaxParser, text: string): Promise<string | null> {
  return new Promise((resolve) => {
    const child = execFile(command, [...args], { timeout: PARSE_MS_MAX }, (error, stdout) => {
      const line = /^\d{1,6}/.exec(stdout)?.[0];
      if (error !== null || line === undefined) resolve(null);
      else resolve(line === '0' ? '' : ` in line ${line}`);
    });
    // A program that does not start, or ends at once, closes its input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(text);
  });
}
