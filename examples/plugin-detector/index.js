/** A plug-in is one record: plain data that says what is looked for, and how one knows that it works. */
export default {
  name: 'acme',
  version: '1.0.0',
  description: 'Customer numbers of Acme.',
  detectors: [
    {
      id: 'acme.customer_number',
      // In the syntax of RE2. What is found is the group `value`, or all of it where there is none.
      pattern: '\\bACME-(?P<value>[0-9]{6,12})\\b',
      // The last digit is a check digit, so that no other number of that form is taken for one.
      checks: ['luhn', 'not_repeated'],
      tags: ['internal.customer'],
      severity: 'medium',
      description: 'Customer numbers: ACME- and digits, of which the last is a check digit.',
      // They are tried whenever the plug-in is loaded: between « and » stands what must be found.
      examples: {
        hits: ['Please look up ACME-«79927398713».', '{"customer": "ACME-«4539578767»"}'],
        misses: ['ACME-79927398714 has a wrong check digit', 'ACME-000000 is a placeholder', 'ACME-123'],
      },
    },
  ],
  templates: [
    {
      name: 'acme-customers',
      description: 'Takes customer numbers out of answers.',
      document: {
        version: 'v1alpha1',
        policies: [
          {
            name: 'acme-customers-stay-in',
            boundary: 'output',
            data_tags: ['internal.customer'],
            action: 'redact',
            reason: 'Customer numbers are not for others.',
          },
        ],
      },
    },
  ],
};
