/** The settings of pip for uv, which does not read them. */

/** Sections of pip's settings. A later one has priority. */
const SECTIONS = ['global', 'install', ':env:'];

/**
 * Returns the package index and the certificates that `pip config list` shows, as environment variables of uv.
 * @param exists says whether a folder is there: uv fails without it, and pip does not
 */
export function parsePipSettings(list: string, exists: (path: string) => boolean): Record<string, string> {
  const found = new Map<string, string>();
  for (const section of SECTIONS)
    for (const line of list.split('\n'))
      if (line.startsWith(`${section}.`)) {
        const [name = '', ...rest] = line.slice(section.length + 1).split('=');
        found.set(name, rest.join('=').trim().slice(1, -1));
      }
  // pip separates values by white space. The list shows a line break as two characters.
  const valuesOf = (name: string) => (found.get(name) ?? '').split(/\\n|\s+/).filter(Boolean);
  const links = valuesOf('find-links').filter((each) => each.includes('://') || exists(each));
  const extra = valuesOf('extra-index-url');
  const settings = {
    UV_DEFAULT_INDEX: found.get('index-url') ?? '',
    UV_INDEX: extra.join(' '),
    // As pip does: the best version of all indexes.
    UV_INDEX_STRATEGY: extra.length > 0 ? 'unsafe-best-match' : '',
    UV_FIND_LINKS: links.join(','),
    UV_INSECURE_HOST: valuesOf('trusted-host').join(' '),
    UV_NO_INDEX: /^(?:1|true|yes|on)$/i.test(found.get('no-index') ?? '') ? '1' : '',
    SSL_CERT_FILE: found.get('cert') ?? '',
    ALL_PROXY: found.get('proxy') ?? '',
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ''));
}
