import type { Detector } from '../../matching/detector.ts';

export const email: readonly Detector[] = [
  {
    id: 'email.address',
    detector: 'email',
    tags: ['personal.pii.email'],
    severity: 'medium',
    strength: 'shape',
    description:
      'E-mail addresses (RFC 5321, without quoted local parts), but for remotes, local names and file names.',
    anchors: ["[A-Za-z0-9._%+'\u00c0-\u024f-]@[A-Za-z0-9\u00c0-\u024f]"],
    back: { over: "[A-Za-z0-9._%+'\u00c0-\u024f-]", units_max: 64 },
    pattern:
      /[._%+'-]{0,64}(?<value>(?:[A-Za-z0-9\u00c0-\u024f][A-Za-z0-9._%+'\u00c0-\u024f-]{0,63}|_)@(?:[A-Za-z0-9\u00c0-\u024f-]{1,63}\.){1,8}[A-Za-z\u00c0-\u024f]{2,24}(?![A-Za-z0-9\u00c0-\u024f_-]))/,
    validate: isPersonal,
    examples: {
      hits: [
        'write to «jane.doe+news@acme-corp.co.uk».',
        '<«bob@acme.io»>',
        'a\\n«eve@acme.io»',
        "'«josé@correo.es»'",
        'to «user@example.com»',
        '«someone@mail.example.org»',
      ],
      misses: ['git@github.com:acme/app.git', 'root@localhost', 'icon@2x.png', '@acme.io'],
    },
  },
];

/** Domain names of the local machine (RFC 6761). */
const LOCAL_DOMAIN = /(?:^|\.)localhost$/i;
const FILE_NAME =
  /\.(?:png|jpe?g|gif|svg|webp|ico|css|s?css|m?js|ts|tsx|jsx|json|md|py|sh|tgz|gz|zip|html?)$/i;

function isPersonal(address: string): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return !address.startsWith('git@') && !LOCAL_DOMAIN.test(domain) && !FILE_NAME.test(domain);
}
