/**
 * Finds the commands in the files of a project: scripts of `package.json`, recipes of makefiles, `RUN` of Dockerfiles,
 * `run` of CI files, and shell blocks in documents.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const LINE_UNITS_MAX = 1000;

/** Returns the commands in the files of a folder, in the order of the files. */
export function commandsIn(folder: string): readonly string[] {
  const found: string[] = [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/\/(?:node_modules|\.git|dist|compiled|bundles)\//.test(file.slice(folder.length)))
    .sort();
  for (const file of files) {
    const read = getReader(file);
    if (read !== null) found.push(...read(readFileSync(file, 'utf8')));
  }
  return found.filter((line) => line !== '' && line.length <= LINE_UNITS_MAX);
}

function getReader(file: string): ((text: string) => readonly string[]) | null {
  const name = basename(file);
  if (name === 'package.json') return getScripts;
  if (/^(?:GNU)?[Mm]akefile$|\.mk$/.test(name)) return getRecipes;
  if (/^Dockerfile|\.dockerfile$/i.test(name)) return getRuns;
  if (/\.ya?ml$/.test(name) && /\/(?:\.github|\.circleci|\.gitlab|ci)\b|gitlab-ci|azure-pipelines/.test(file))
    return getSteps;
  if (/\.(?:md|mdx)$/i.test(name)) return getFences;
  return /\.(?:rst|txt)$/.test(name) && /\/docs?\/|README|CONTRIBUTING/i.test(file) ? getConsoles : null;
}

function getScripts(text: string): readonly string[] {
  try {
    const { scripts = {} } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    return Object.values(scripts).filter((script) => typeof script === 'string');
  } catch {
    return [];
  }
}

function getRecipes(text: string): readonly string[] {
  return joined(text)
    .split('\n')
    .filter((line) => line.startsWith('\t'))
    .map((line) =>
      line
        .trim()
        .replace(/^[@-]+/, '')
        .replaceAll('$$', '$'),
    );
}

function getRuns(text: string): readonly string[] {
  return [...joined(text).matchAll(/^RUN\s+(?:--\S+\s+)*(.+)$/gim)].map(([, line]) => line!.trim());
}

/** Returns the commands of `run:` in CI files: one line, or the lines of a block. */
function getSteps(text: string): readonly string[] {
  const found: string[] = [];
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    const step = /^(\s*)(?:- )?run:\s*(.*)$/.exec(line);
    if (step === null) continue;
    if (!/^[|>]/.test(step[2]!)) found.push(step[2]!.trim());
    else {
      const block = lines.slice(at + 1);
      const end = block.findIndex((each) => each.trim() !== '' && each.search(/\S/) <= step[1]!.length);
      found.push(...getLines(block.slice(0, end < 0 ? block.length : end).join('\n'), false));
    }
  }
  return found.filter((line) => !line.includes('${{'));
}

function getFences(text: string): readonly string[] {
  return [
    ...text.matchAll(/^[ \t]*```(?:sh|bash|shell|console|terminal|zsh)\b[^\n]*\n([\s\S]*?)^[ \t]*```/gm),
  ].flatMap(([, block]) => getLines(block!, false));
}

/** Returns the commands after a prompt, or in a console block, in reStructuredText. */
function getConsoles(text: string): readonly string[] {
  const blocks = [
    ...text.matchAll(
      /^\.\. (?:code-block::|code::|sourcecode::) (?:bash|console|sh|shell|doscon)\n((?:\n|[ \t]+.*\n)+)/gm,
    ),
  ];
  return [
    ...blocks.flatMap(([, block]) =>
      getLines(block!.replace(/^[ \t]+:[\w-]+:.*$/gm, ''), /^\s+\$ /m.test(block!)),
    ),
    ...[...text.matchAll(/^\s+\$ (.+)$/gm)].map(([, line]) => line!.trim()),
  ];
}

/** Returns the commands of a block, without prompts, comments and output of programs. */
function getLines(block: string, hasPrompts: boolean): readonly string[] {
  const prompts = hasPrompts || /^\s*[$%] /m.test(block);
  return joined(block)
    .split('\n')
    .filter((line) => !prompts || /^\s*[$%] /.test(line))
    .map((line) => line.trim().replace(/^(?:[$%>] )+/, ''))
    .filter((line) => !/^(?:#|\.\.\.|-|\+|<|\||\d|[A-Z][a-z]+ [a-z]+ |[{}[\]()])/.test(line));
}

function joined(text: string): string {
  return text.replace(/\\\r?\n\s*/g, ' ');
}
