/** Reads the texts of a fetched package: its files, the commands in them, and the entries of its changelogs. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { commandsIn } from './command-lines.ts';
import type { FetchedPackage } from './ordinary-packages.ts';

export interface PackageTexts {
  readonly name: string;
  readonly part: 'other, open' | 'other, held' | 'LLM, open' | 'LLM, held';
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly commands: readonly string[];
  /** Entries of changelogs, which are written as commit messages are. */
  readonly messages: readonly string[];
}

const FILE_BYTES_MAX = 1_000_000;
const COMMANDS_MAX = 1_500;
const MESSAGES_MAX = 2_000;
const EXTENSIONS = new Set(
  (
    '.ts .tsx .mts .cts .js .jsx .mjs .cjs .py .pyi .go .rs .java .kt .kts .scala .c .h .cc .cpp .hpp .m .mm .swift .rb ' +
    '.php .cs .sh .bash .zsh .ps1 .bat .sql .md .mdx .rst .txt .adoc .html .css .scss .vue .json .jsonl .json5 .yaml ' +
    '.yml .toml .ini .cfg .conf .properties .xml .gradle .lock .sum .mod .tf .hcl .tpl .tmpl .csv .tsv .proto .graphql ' +
    '.env .example .dist .patch .diff .ipynb .golden .pem .crt .cnf .service'
  ).split(' '),
);
const NAMES =
  /^(?:Dockerfile|Makefile|GNUmakefile|Jenkinsfile|Vagrantfile|Gemfile|Rakefile|CODEOWNERS|LICENSE|NOTICE|AUTHORS|CHANGELOG|README|\.\w+(?:rc|ignore)|\.env\S*)/;
const CHANGES = /^(?:change(?:s|log)|history|news|release)/i;

/** Reads a package. At most `filesMax` files, evenly selected from all in the order of their paths. */
export function readTexts(from: FetchedPackage, filesMax: number): PackageTexts {
  const { name, folder, is_llm, is_held } = from;
  const paths = listFiles(folder);
  const step = Math.max(1, paths.length / filesMax);
  const files: { path: string; text: string }[] = [];
  for (let at = 0; at < paths.length; at += step) {
    const path = paths[Math.floor(at)]!;
    const text = readFileSync(path, 'utf8');
    if (!text.includes('\0') && !text.includes('\ufffd')) files.push({ path, text });
  }
  const changes = paths.filter((path) => CHANGES.test(basename(path)));
  return {
    name,
    part: `${is_llm ? 'LLM' : 'other'}, ${is_held ? 'held' : 'open'}`,
    files,
    commands: [...new Set(commandsIn(folder))].slice(0, COMMANDS_MAX),
    messages: [...new Set(changes.flatMap((path) => listEntries(readFileSync(path, 'utf8'))))].slice(
      0,
      MESSAGES_MAX,
    ),
  };
}

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && (EXTENSIONS.has(extname(entry.name)) || NAMES.test(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => statSync(path).size > 0 && statSync(path).size <= FILE_BYTES_MAX)
    .sort();
}

/** Returns the list items of a changelog, each as one text. */
function listEntries(text: string): readonly string[] {
  return [...text.matchAll(/^[ \t]{0,4}[-*+] (.+(?:\n[ \t]{2,}(?![-*+] ).+)*)/gm)]
    .map(([, entry]) => entry!.replace(/\n\s+/g, '\n'))
    .filter((entry) => entry.length >= 20);
}
