/** Reads the public declarations of Python modules, with tree-sitter's grammar, so that no Python is needed. */
import { createRequire } from 'node:module';

interface SyntaxNode {
  readonly type: string;
  readonly text: string;
  readonly startPosition: { readonly column: number };
  readonly namedChildren: readonly SyntaxNode[];
  childForFieldName(name: string): SyntaxNode | null;
}

interface TreeSitter {
  readonly Parser: {
    init(): Promise<void>;
    new (): { setLanguage(language: object): void; parse(text: string): { rootNode: SyntaxNode } | null };
  };
  readonly Language: { load(file: string): Promise<object> };
}

/** A method or an attribute of a class. */
export interface PythonMember {
  /** The signature without `self`, or the name of an attribute with its type. */
  readonly shown: string;
  readonly doc: string | null;
}

export interface PythonDeclaration {
  readonly name: string;
  readonly kind: 'class' | 'function';
  /** The declaration without its body. */
  readonly shown: string;
  readonly doc: string | null;
  readonly members: readonly PythonMember[];
}

export interface PythonModule {
  readonly doc: string | null;
  readonly declarations: readonly PythonDeclaration[];
}

/** Loads the grammar, and returns a function that reads the text of a module. */
export async function loadPythonReader(): Promise<(text: string) => PythonModule> {
  const require = createRequire(import.meta.url);
  const { Parser, Language } = require('@vscode/tree-sitter-wasm') as TreeSitter;
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(
    await Language.load(require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm')),
  );
  return (text) => {
    const { rootNode } = parser.parse(text)!;
    return { doc: readDocstring(rootNode), declarations: listDeclarations(rootNode) };
  };
}

function listDeclarations(module: SyntaxNode): readonly PythonDeclaration[] {
  return module.namedChildren.flatMap((child) => {
    const { decorators, node } = splitDecorators(child);
    if (node.type !== 'function_definition' && node.type !== 'class_definition') return [];
    const name = node.childForFieldName('name')!.text;
    if (name.startsWith('_') || decorators.includes('@overload')) return [];
    const kind = node.type === 'class_definition' ? 'class' : 'function';
    const body = node.childForFieldName('body')!;
    return [
      {
        name,
        kind,
        shown: kind === 'class' ? describeClass(node) : describeFunction(node, false),
        doc: readDocstring(body),
        members: kind === 'class' ? listMembers(body) : [],
      },
    ];
  });
}

function splitDecorators(node: SyntaxNode): { decorators: readonly string[]; node: SyntaxNode } {
  if (node.type !== 'decorated_definition') return { decorators: [], node };
  const decorators = node.namedChildren.filter(({ type }) => type === 'decorator').map(({ text }) => text);
  return { decorators, node: node.childForFieldName('definition')! };
}

function describeClass(node: SyntaxNode): string {
  return `class ${node.childForFieldName('name')!.text}${node.childForFieldName('superclasses')?.text ?? ''}`;
}

/** Shows a function as in the source; that of a method on one line. */
function describeFunction(node: SyntaxNode, isMethod: boolean): string {
  const name = node.childForFieldName('name')!.text;
  const given = node.childForFieldName('parameters')!.text;
  const result = node.childForFieldName('return_type')?.text;
  const parameters = isMethod
    ? given
        .replace(/\s+/g, ' ')
        .replace(/^\( ?(?:self(?:, )?)?/, '(')
        .replace(/,? \)$/, ')')
    : given;
  const isAsync = node.text.startsWith('async ');
  return `${isAsync ? 'async ' : ''}${isMethod ? '' : 'def '}${name}${parameters}${result === undefined ? '' : ` -> ${result}`}`;
}

/** Lists attributes and methods in the order of the source. Names that begin with `_` are left out, but for `__init__`. */
function listMembers(body: SyntaxNode): readonly PythonMember[] {
  return body.namedChildren.flatMap((child, index) => {
    const { decorators, node } = splitDecorators(child);
    if (node.type === 'function_definition') return listMethod(node, decorators);
    const assignment = node.type === 'expression_statement' ? node.namedChildren[0] : undefined;
    return assignment?.type === 'assignment' ? listAttribute(assignment, body.namedChildren[index + 1]) : [];
  });
}

function listMethod(node: SyntaxNode, decorators: readonly string[]): readonly PythonMember[] {
  const name = node.childForFieldName('name')!.text;
  const body = node.childForFieldName('body')!;
  if (name === '__init__') return listOwnAttributes(body);
  if (name.startsWith('_')) return [];
  const isProperty = decorators.includes('@property');
  const type = node.childForFieldName('return_type')?.text;
  const shown = isProperty ? `${name}: ${type}` : describeFunction(node, true);
  return [{ shown, doc: readDocstring(body) }];
}

/** The attributes that `__init__` sets and documents. */
function listOwnAttributes(body: SyntaxNode): readonly PythonMember[] {
  return body.namedChildren.flatMap((child, index) => {
    const assignment = child.namedChildren[0];
    const doc = readString(body.namedChildren[index + 1]);
    const target = assignment?.childForFieldName('left')?.text;
    if (assignment?.type !== 'assignment' || doc === null || !target?.startsWith('self.')) return [];
    const type = assignment.childForFieldName('type')?.text;
    return [{ shown: `${target.slice(5)}${type === undefined ? '' : `: ${type}`}`, doc }];
  });
}

function listAttribute(assignment: SyntaxNode, next: SyntaxNode | undefined): readonly PythonMember[] {
  const name = assignment.childForFieldName('left')!.text;
  const type = assignment.childForFieldName('type')?.text;
  const value = assignment.childForFieldName('right');
  if (name.startsWith('_')) return [];
  if (type !== undefined) return [{ shown: `${name}: ${type}`, doc: readString(next) }];
  return value?.type === 'identifier' ? [{ shown: name, doc: `Another name of \`${value.text}\`.` }] : [];
}

function readDocstring(block: SyntaxNode): string | null {
  return readString(block.namedChildren.find(({ type }) => type !== 'comment'));
}

/** Returns the text of a statement that is only a string; otherwise `null`. */
function readString(statement: SyntaxNode | undefined): string | null {
  const string = statement?.type === 'expression_statement' ? statement.namedChildren[0] : undefined;
  if (string?.type !== 'string') return null;
  const indent = ' '.repeat(string.startPosition.column);
  return string.text
    .replace(/^"""|"""$/g, '')
    .split('\n')
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line).trimEnd())
    .join('\n')
    .trim();
}
