import { boundSummary, parseAnswer } from './answer.ts';
import { buildInstructions } from './instructions.ts';
import { type ProjectOutline, sanitizeOutline } from './project-outline.ts';
import type { Advisor, ArtifactFile } from './types.ts';
import { formatUntrusted } from './untrusted.ts';

/** A framework to write code for, and the project that uses it. */
export interface IntegrationRequest {
  /** The name of a known framework, or `generic`. */
  readonly target: string;
  readonly label: string;
  readonly language: 'python' | 'typescript';
  /** The source of the adapter that this program ships for the framework. Public code. */
  readonly adapter: string;
  /** The file of the adapter, which is a part of the proposal, as `customshouse setup <target>` writes it. */
  readonly adapter_file: string;
  /** The functions of the SDK that the adapter uses, and an example. Public text. */
  readonly reference: string;
  readonly outline: ProjectOutline;
}

const TASK = `You write the code that connects a project to a local guard service for AI agents. Use only the shipped adapter below;
do not write a guard of your own, do not change or repeat the adapter, and never allow a call if the guard fails or does not
answer.
First write at most 150 words for the developer: where to call the code, and what it guards. Then write one file of code. It
imports the adapter from the file next to it, wraps the tools of the project, and has one short usage example. It holds no
credentials: they come from environment variables. Write the file after a line of exactly this form, without code fences:

--- FILE: <name> ---
(the code)
--- END ---`;

/** Writes integration code for a framework. */
export const integrationAdvisor: Advisor<IntegrationRequest> = {
  name: 'integration',
  brief: (request) => ({
    system: [
      buildInstructions(TASK, false),
      `The framework is ${request.label}, the language ${request.language}. The name of the file is ${buildFileName(request)}.`,
      `The shipped adapter, ${request.adapter_file}:\n${request.adapter}`,
      `The SDK behind the adapter:\n${request.reference}`,
    ].join('\n\n'),
    user: formatUntrusted('project', sanitizeOutline(request.outline)),
  }),
  read: (answer, request) => {
    const isPython = request.language === 'python';
    const { prose, files, problems } = parseAnswer(answer, {
      path: isPython ? /^[a-z][a-z0-9_]{0,60}\.py$/ : /^[a-z][a-z0-9_-]{0,60}\.(?:ts|mts|mjs|js)$/,
      expects: isPython ? 'a file name such as `integration.py`' : 'a file name such as `integration.ts`',
      unnamed: buildFileName(request),
    });
    const { adapter_file, adapter } = request;
    const found = [
      ...problems,
      ...(files.length === 0 && problems.length === 0
        ? ['The answer has no file of code. It begins with a line `--- FILE: <name> ---`.']
        : []),
      ...(files.some(({ path }) => path === adapter_file)
        ? [`The file \`${adapter_file}\` is the shipped adapter. Leave it out, and import it.`]
        : []),
      ...(problems.length === 0 && files.length > 0 ? findImportProblems(files, request) : []),
    ];
    return {
      summary: boundSummary(prose),
      // The adapter never comes from a model.
      artifacts: found.length > 0 ? [] : [{ path: adapter_file, text: adapter }, ...files],
      problems: found,
      metadata: { target: request.target, framework_hints: [...request.outline.frameworks] },
    };
  },
};

function buildFileName({ language }: IntegrationRequest): string {
  return language === 'python' ? 'service_integration.py' : 'service-integration.ts';
}

/** Checks that the code imports the adapter, and only names that it has. */
function findImportProblems(
  files: readonly ArtifactFile[],
  { adapter, adapter_file, language }: IntegrationRequest,
): readonly string[] {
  const module = adapter_file.replace(/\.(?:py|ts)$/, '');
  const pattern =
    language === 'python'
      ? new RegExp(
          `^[ \\t]{0,40}from[ \\t]{1,4}\\.?${module}[ \\t]{1,4}import[ \\t]{1,4}\\(?([^()\\n#;]{1,400}|[^()#;]{1,400}\\))`,
          'gm',
        )
      : new RegExp(
          `\\bimport[ \\t\\n]{0,4}\\{([^{}]{1,400})\\}[ \\t\\n]{0,4}from[ \\t]{0,4}["']\\./${module}(?:\\.[mc]?[jt]s)?["']`,
          'g',
        );
  const imports = files.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, names = '']) => names));
  const names = imports.flatMap(
    (list) => list.replace(/\btype\s/g, '').match(/[A-Za-z_]\w*(?:\s+as\s+\w+)?/g) ?? [],
  );
  if (names.length === 0)
    return [`No file imports names of the adapter \`${adapter_file}\`. Import what it defines.`];
  const own = readOwnNames(adapter, language);
  const unknown = names.map((name) => name.split(/\s/)[0]!).filter((name) => !own.has(name));
  return unknown.length === 0
    ? []
    : [
        `The adapter \`${adapter_file}\` does not define a name that is imported. It has ${[...own].join(', ')}.`,
      ];
}

/** Returns the names that the adapter gives: those in `__all__`, assigned or defined at its top level, or exported. */
function readOwnNames(adapter: string, language: IntegrationRequest['language']): ReadonlySet<string> {
  if (language === 'typescript')
    return new Set(
      [...adapter.matchAll(/^export (?:const|function|class) (\w+)/gm)].map(([, name = '']) => name),
    );
  const defined = [...adapter.matchAll(/^(?:(?:async )?def |class )?([A-Za-z]\w*)(?: =|\()/gm)];
  const listed = /^__all__ = \[([^\]]*)\]/m.exec(adapter)?.[1]?.match(/\w+/g) ?? [];
  return new Set([...defined.map(([, name = '']) => name), ...listed]);
}
