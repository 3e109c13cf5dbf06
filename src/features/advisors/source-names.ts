import type { OutlineTool } from '../../core/advisors/project-outline.ts';

/** The names in one source file. */
export interface SourceNames {
  readonly imports: readonly string[];
  readonly tools: readonly OutlineTool[];
  readonly agents: readonly string[];
}

const NAME = '[A-Za-z_][A-Za-z0-9_]{0,63}';
const NAMES_MAX = 500;

/**
 * Reads the names of imports, tools and agents of a Python file. Linear: every repeat of a pattern is bounded, and a
 * match does not begin inside of another.
 */
export function readPythonNames(text: string): SourceNames {
  const tools = [
    ...readListedFunctions(text),
    ...findMatches(
      text,
      new RegExp(
        `^[ \\t]{0,16}@(?:[\\w.]{1,64}\\.)?(?:tool|function_tool|tool_plain|kernel_function|register_function)\\b([^\\n]{0,300})\\n(?:[ \\t]{0,16}@[^\\n]{0,300}\\n){0,4}[ \\t]{0,16}(?:async[ \\t]{1,4})?def[ \\t]{1,4}(${NAME})[ \\t]{0,4}\\(([^()]{0,600})`,
        'gm',
      ),
    ).map(([, options = '', name = '', parameters = '']) => nameDecoratedTool(options, name, parameters)),
    ...findMatches(
      text,
      new RegExp(
        `\\b(?:Tool|StructuredTool|FunctionTool)(?:\\.from_\\w{1,30})?\\([^()]{0,300}?\\bname[ \\t]{0,4}=[ \\t]{0,4}["'](${NAME}(?:[.-]${NAME}){0,3})["']`,
        'g',
      ),
    ).map(toTool),
    ...findMatches(
      text,
      new RegExp(
        `^class[ \\t]{1,4}\\w{1,64}\\([\\w., ]{0,100}\\bBaseTool\\b[^\\n]{0,100}\\n[^\\0]{0,400}?\\bname[ \\t]{0,4}(?::[ \\t]{0,4}str[ \\t]{0,4})?=[ \\t]{0,4}["'](${NAME})["']`,
        'gm',
      ),
    ).map(toTool),
  ];
  return {
    imports: findMatches(
      text,
      new RegExp(`^[ \\t]{0,16}(?:from|import)[ \\t]{1,4}(google\\.adk|${NAME})`, 'gm'),
    ).map(readName),
    tools: removeDuplicateTools(tools),
    agents: findMatches(
      text,
      new RegExp(
        `\\b(?:\\w{0,30}Agent)\\((?:[\\s]{0,40}|[^()]{0,200}?\\bname[ \\t]{0,4}=[ \\t]{0,4})["'](${NAME}(?:[ -]${NAME}){0,4})["']`,
        'g',
      ),
    ).map(readName),
  };
}

/**
 * Reads functions of the file in the list of an agent or of its tools: `Agent(tools=[send])`, `bind_tools([send])`. A
 * decorated function is left to its decorator.
 */
function readListedFunctions(text: string): readonly OutlineTool[] {
  const lists = findMatches(
    text,
    /(?:\b\w{0,30}(?:[Aa]gent|[Tt]ool)\w{0,30}\([^()[\]=]{0,300}|\btools[ \t]{0,4}=[ \t]{0,4})\[([\w\s,]{1,400})\]/g,
  );
  const listed = new Set(lists.flatMap(([, names = '']) => names.split(/[\s,]+/)));
  if (listed.size === 0) return [];
  const defined = findMatches(
    text,
    new RegExp(
      `(?<!^[ \\t]{0,16}@[^\\n]{0,300}\\n)^[ \\t]{0,16}(?:async[ \\t]{1,4})?def[ \\t]{1,4}(${NAME})[ \\t]{0,4}\\(([^()]{0,600})`,
      'gm',
    ),
  );
  return defined
    .filter(([, name = '']) => listed.has(name))
    .map(([, name = '', parameters = '']) => ({ name, parameters: readPythonParameters(parameters) }));
}

/** A decorator may give the name, and a schema: then the parameters of the function are not those of the tool. */
function nameDecoratedTool(options: string, name: string, parameters: string): OutlineTool {
  const given = new RegExp(`^\\([ \\t]{0,4}["'](${NAME})["']`).exec(options)?.[1];
  return {
    name: given ?? name,
    parameters: options.includes('{') ? [] : readPythonParameters(parameters),
  };
}

/** Reads the names of a TypeScript or JavaScript file; the same limits apply. */
export function readScriptNames(text: string): SourceNames {
  const specifier = '["\'](@?[A-Za-z0-9][\\w.-]{0,63}(?:/[\\w.-]{1,63}){0,4})["\']';
  const tools = [
    ...findMatches(
      text,
      new RegExp(
        `\\b(${NAME})[ \\t]{0,4}[:=][ \\t]{0,4}(?:\\w{1,40}\\.)?(?:dynamicTool|tool|createTool|defineTool|FunctionTool\\.from)\\(`,
        'g',
      ),
    ).map(toTool),
    ...findMatches(
      text,
      new RegExp(
        `\\.(?:tool|registerTool|addTool)\\([\\s]{0,40}(?:\\{[\\s]{0,40}name:[ \\t]{0,4})?["'\`](${NAME}(?:[.-]${NAME}){0,3})["'\`]`,
        'g',
      ),
    ).map(toTool),
    ...findMatches(
      text,
      new RegExp(
        `\\b(?:tool|DynamicTool|DynamicStructuredTool|FunctionTool|createTool|defineTool)\\([^()]{0,200}?\\b(?:name|id):[ \\t]{0,4}["'\`](${NAME}(?:[.-]${NAME}){0,3})["'\`]`,
        'g',
      ),
    ).map(toTool),
    ...findMatches(
      text,
      new RegExp(
        `type:[ \\t]{0,4}["']function["'],[\\s]{0,80}(?:function:[ \\t]{0,4}\\{[\\s]{0,80})?name:[ \\t]{0,4}["'](${NAME})["']`,
        'g',
      ),
    ).map(toTool),
  ];
  return {
    imports: [
      ...findMatches(text, new RegExp(`\\b(?:from|import)[ \\t]{0,4}${specifier}`, 'g')),
      ...findMatches(text, new RegExp(`\\b(?:require|import)\\([ \\t]{0,4}${specifier}`, 'g')),
    ].map((found) => findPackageName(readName(found))),
    tools: removeDuplicateTools(tools),
    agents: findMatches(
      text,
      new RegExp(
        `\\bnew[ \\t]{1,4}\\w{0,30}Agent\\([^()]{0,200}?\\bname:[ \\t]{0,4}["'\`](${NAME}(?:[ -]${NAME}){0,4})["'\`]`,
        'g',
      ),
    ).map(readName),
  };
}

function findMatches(text: string, pattern: RegExp): readonly RegExpMatchArray[] {
  const found: RegExpMatchArray[] = [];
  for (const each of text.matchAll(pattern)) {
    found.push(each);
    if (found.length >= NAMES_MAX) break;
  }
  return found;
}

function readName([, name = '']: RegExpMatchArray): string {
  return name.replaceAll(' ', '_');
}

function toTool(found: RegExpMatchArray): OutlineTool {
  return { name: readName(found), parameters: [] };
}

/** Keeps the first definition that has parameters. */
function removeDuplicateTools(tools: readonly OutlineTool[]): readonly OutlineTool[] {
  const known = new Map<string, OutlineTool>();
  for (const tool of tools)
    if ((known.get(tool.name)?.parameters.length ?? 0) === 0) known.set(tool.name, tool);
  return [...known.values()];
}

/** Names before `:`, `=` or a comma. Annotations and defaults are dropped, also those with brackets. */
function readPythonParameters(written: string): readonly string[] {
  const flat = written.replace(/\[[^\]]{0,200}\]/g, '').replace(/#[^\n]{0,300}/g, '');
  const names = flat.split(',').map((part) => /^\s*\*{0,2}([A-Za-z_]\w{0,63})/.exec(part)?.[1] ?? '');
  return names
    .filter((name) => name !== '' && !['self', 'cls', 'ctx', 'context'].includes(name))
    .slice(0, 20);
}

/** Returns the package of an import: `@scope/name` or `name`. */
function findPackageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
