import type { Detector } from '../../matching/detector.ts';

export const email: readonly Detector[] = [
  {
    id: 'email.address',
    detector: 'email',
    tags: ['personal.pii.email'],
    severity: 'medium',
    strength: 'shape',
    description:
      'E-mail addresses (RFC 5321, without quoted local parts), but for remotes, the user of a web address, local names, file names and mailboxes that no person reads.',
    anchors: ["[A-Za-z0-9._%+'\u00c0-\u024f-]@[A-Za-z0-9\u00c0-\u024f]"],
    back: { over: "[A-Za-z0-9._%+'\u00c0-\u024f-]", units_max: 64 },
    pattern:
      /(?:(?<=\\)u00[23][0-9a-f])?[._%+'-]{0,64}(?<!:\/\/[^\s/@"'<>]{0,100})(?<value>(?:[A-Za-z0-9\u00c0-\u024f][A-Za-z0-9._%+'\u00c0-\u024f-]{0,63}|_)@(?:[A-Za-z0-9\u00c0-\u024f-]{1,63}\.){1,8}[A-Za-z\u00c0-\u024f]{2,24}(?![A-Za-z0-9\u00c0-\u024f_-]))/,
    validate: isPersonal,
    examples: {
      hits: [
        'write to «jane.doe+news@acme-corp.co.uk».',
        '<«bob@acme.io»>',
        'a\\n«eve@acme.io»',
        "'«josé@correo.es»'",
        'to «user@example.com»',
        '«someone@mail.example.org»',
        'To: \\u003c«jane@acme.io»\\u003e',
      ],
      misses: [
        'git@github.com:acme/app.git',
        'root@localhost',
        'icon@2x.png',
        '@acme.io',
        'https://8f0b7c2e1d3a4e5f9a6b7c8d9e0f1a2b@o447951.ingest.sentry.io/42',
        'redis://app:word@cache.acme.io:6379',
        'Package@swift-4.2.swift',
        'From: No Reply <no-reply@acme.io>',
        'noreply@github.com',
      ],
    },
  },
];

/** Domain names of the local machine (RFC 6761). */
const LOCAL_DOMAIN = /(?:^|\.)localhost$/i;
/** Ends of file names that are no top-level domains, and those that are, after a version or a scale. */
const FILE_NAME =
  /\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|css|scss|less|m?js|cjs|ts|tsx|jsx|vue|json|ya?ml|toml|lock|map|txt|xml|swift|java|kt|php|tgz|gz|zip|html?|pdf|mp[34]|woff2?|ttf)$|^\d[\w-]{0,10}(?:\.\d{1,5}){0,3}\.(?:md|py|sh|rs|pl|cc|so)$/i;
/** Mailboxes that no person reads. */
const UNREAD = /^(?:no[._-]?reply|do[._-]?not[._-]?reply|mailer-daemon)(?:[+._-]|@)/i;

function isPersonal(address: string): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (address.startsWith('git@') || UNREAD.test(address)) return false;
  return !LOCAL_DOMAIN.test(domain) && !FILE_NAME.test(domain);
}
