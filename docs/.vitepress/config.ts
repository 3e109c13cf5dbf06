/**
 * The documentation site, built by `npm run docs` from the Markdown files of this folder. It loads nothing from other servers. The
 * running service serves it with a content security policy without `unsafe-inline`, so pages hold no inline script and no inline style.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';

const BASE = '/docs/guide/';
/** Runs before the first paint, so that a dark page does not flash. VitePress would write both of these inline. */
const START_SCRIPT = `(() => {
  const chosen = localStorage.getItem('vitepress-theme-appearance') || 'auto';
  const is_dark = chosen === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark';
  document.documentElement.classList.toggle('dark', is_dark);
  document.documentElement.classList.toggle('mac', /Mac|iPhone|iPod|iPad/i.test(navigator.platform));
})();
`;

export default defineConfig({
  title: 'Customshouse',
  description: 'Runtime safety for AI agents: rules decide at every boundary.',
  lang: 'en',
  base: BASE,
  rewrites: { 'README.md': 'index.md' },
  lastUpdated: false,
  metaChunk: true,
  // One page after the other, because the search index numbers them as they come: the same sources give the same bytes.
  buildConcurrency: 1,
  // Without transitions to disable, the theme writes no style element.
  appearance: { disableTransition: false },
  // Links that leave this folder become plain text below; the tests of the repository follow all links.
  ignoreDeadLinks: true,
  markdown: {
    anchor: { slugify },
    highlight: (code) => `<pre v-pre><code>${escapeHtml(code)}</code></pre>`,
    config: (markdown) => {
      // Braces in code are no template expressions.
      markdown.renderer.rules.code_inline = (tokens, index) =>
        `<code v-pre>${escapeHtml(tokens[index]?.content ?? '')}</code>`;
      markdown.core.ruler.push('links-out', (state) => {
        for (const token of state.tokens) unlinkOutside(token.children ?? [], state.env.relativePath ?? '');
      });
    },
  },
  themeConfig: {
    nav: [],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local', options: { detailedView: false, _render: searchText } },
    docFooter: { prev: false, next: false },
  },
  transformHtml: (html) =>
    html
      .replace(
        /<script id="check-dark-mode">[\s\S]*?<\/script>/,
        `<script src="${BASE}assets/start.js"></script>`,
      )
      .replace(/<script id="check-mac-os">[\s\S]*?<\/script>/, '')
      .replaceAll(/ style="[^"]*"/g, ''),
  vite: {
    plugins: [
      {
        name: 'start-script',
        generateBundle() {
          this.emitFile({ type: 'asset', fileName: 'assets/start.js', source: START_SCRIPT });
        },
      },
    ],
  },
});

/** Returns the anchor that GitHub gives a heading, so that a link works in both places. */
function slugify(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

interface InlineToken {
  type: string;
  hidden: boolean;
  tag: string;
  attrs: [string, string][] | null;
  attrGet(name: string): string | null;
}

/** Turns links to files outside this folder into emphasised text: those files are in the repository, not on the site. */
function unlinkOutside(tokens: readonly InlineToken[], page: string): void {
  let isOutside = false;
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const path = token.attrGet('href') ?? '';
      isOutside = path.startsWith('.') && join('docs', page, '..', path).startsWith('docs/') === false;
    }
    if (isOutside && token.type.startsWith('link_')) {
      token.type = token.type.replace('link', 'em');
      token.tag = 'em';
      token.attrs = null;
    }
  }
}

/** Builds the sidebar from the index page: its headings, lists and links. */
function sidebar(): unknown[] {
  const index = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
  const sections: { text: string; collapsed: boolean; items: { text: string; link: string }[] }[] = [];
  for (const line of index.split('\n')) {
    const heading = /^## (.+)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ text: heading, collapsed: false, items: [] });
    const link = /^- \[(.+)\]\((.+)\.md\)$/.exec(line);
    if (link !== null) sections.at(-1)?.items.push({ text: link[1] ?? '', link: `/${link[2]}` });
  }
  return sections;
}

/** The rows of the largest tables stay out of the search index, which every reader loads. */
const NOT_SEARCHED = ['reference/detectors.md', 'reference/detection-figures.md'];

function searchText(
  source: string,
  env: { relativePath: string },
  markdown: { render(source: string, env: unknown): string },
): string {
  const isSearched =
    !NOT_SEARCHED.includes(env.relativePath) && !env.relativePath.startsWith('reference/detectors/');
  return markdown.render(isSearched ? source : source.replaceAll(/^\|.*$/gm, ''), env);
}
