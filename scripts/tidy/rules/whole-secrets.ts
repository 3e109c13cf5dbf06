import type { TidyRule } from '../rule.ts';

/** Token shapes with which code hosts reject a push. */
const SHAPES: readonly RegExp[] = [
  /\bsk_live_[0-9a-zA-Z]{16,}/,
  /\bgh[pousr]_[0-9A-Za-z]{36}/,
  /\bgithub_pat_[0-9A-Za-z_]{40,}/,
  /\bglpat-[0-9A-Za-z_-]{20}/,
  /\bA(KI|SI)A[0-9A-Z]{16}\b/,
  /\bxox[abprs]-[0-9A-Za-z-]{20,}/,
  /hooks\.slack\.com\/services\/T[0-9A-Z]{8,}\/B[0-9A-Z]{8,}\/[0-9A-Za-z]{20,}/,
  /\bSG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43}/,
  /\bAIza[0-9A-Za-z_-]{35}/,
  /\bnpm_[0-9A-Za-z]{36}/,
  /\bpypi-AgEIcHlwaS5vcmc[0-9A-Za-z_-]{50,}/,
  /\bhf_[0-9A-Za-z]{34}/,
  /\bsk-ant-api03-[0-9A-Za-z_-]{80,}/,
  /\bdop_v1_[0-9a-f]{64}/,
  /\bshpat_[0-9a-f]{32}/,
];

export const wholeSecrets: TidyRule = {
  name: 'whole-secrets',
  reason:
    'A sample secret is put together from pieces, so that the push protection of code hosts stays quiet.',
  examine: ({ texts }) =>
    texts.flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) =>
          SHAPES.some((shape) => shape.test(line))
            ? [{ path, line: at + 1, message: 'holds a whole sample secret' }]
            : [],
        ),
    ),
  refuses: [
    { files: { 'src/core/a.test.ts': `const a = '${'gh'}${'p_'}${'0aB'.repeat(12)}';` }, remarks: 1 },
    { files: { 'docs/a.md': `Key ${'AK'}${'IA'}${'IOSFODNN7EXAMPLE'}` }, remarks: 1 },
  ],
  accepts: [{ 'src/core/a.test.ts': "const a = ['gh', 'p_', '0aB'.repeat(12)].join('');" }],
};
