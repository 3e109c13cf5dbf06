import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { renderPythonReferencePage } from './python-reference.ts';
import { loadPythonReader } from './python-syntax.ts';

const MODULE = `"""Guards agents.

    guard()
"""

@overload
def guard(function: Function) -> Function: ...


def guard(
    function: Any = None,
    *,
    name: str = "a",
) -> Any:
    """Guard a function."""
    def inner():
        """Not shown."""


class Guard(Base):
    """A guard."""

    limit: int = 1
    """The limit."""
    scan = check

    def __init__(self, hidden: int) -> None:
        self.aio: int = hidden
        """For asyncio."""
        self.plain = 1

    @property
    def kind(self) -> str:
        """The kind."""

    async def check(
        self,
        text: str,
    ) -> None:
        """Check
        a text.
        """

    def _own(self): ...


class _Hidden: ...


def _hidden(): ...
`;

test('a module is read: signatures, docstrings and members, and nothing private', async () => {
  const { doc, declarations } = (await loadPythonReader())(MODULE);
  assert.equal(doc, 'Guards agents.\n\n    guard()');
  assert.deepEqual(declarations, [
    {
      name: 'guard',
      kind: 'function',
      shown: 'def guard(\n    function: Any = None,\n    *,\n    name: str = "a",\n) -> Any',
      doc: 'Guard a function.',
      members: [],
    },
    {
      name: 'Guard',
      kind: 'class',
      shown: 'class Guard(Base)',
      doc: 'A guard.',
      members: [
        { shown: 'limit: int', doc: 'The limit.' },
        { shown: 'scan', doc: 'Another name of `check`.' },
        { shown: 'aio: int', doc: 'For asyncio.' },
        { shown: 'kind: str', doc: 'The kind.' },
        { shown: 'async check(text: str) -> None', doc: 'Check\na text.' },
      ],
    },
  ]);
});

test('the page has every name that the package exports', async () => {
  const page = await renderPythonReferencePage();
  const root = join(import.meta.dirname, '..', '..');
  const source = readFileSync(join(root, 'python/customshouse/__init__.py'), 'utf8');
  const exported = [...source.matchAll(/^ {4}"(\w+)",$/gm)].map(([, name]) => name);
  assert.ok(exported.length >= 23);
  const missing = exported.filter((name) => !page.includes(`### \`${name}\``));
  assert.deepEqual(missing, ['__version__']);
});
