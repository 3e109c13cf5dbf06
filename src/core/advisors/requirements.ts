import type { FrameworkName, FrameworkRequirement } from './compliance.ts';

/** The requirements of each framework that concern data of agents, in our own words and without claim to be complete. */
export const COMPLIANCE_REQUIREMENTS: Readonly<
  Record<FrameworkName, { readonly title: string; readonly requirements: readonly FrameworkRequirement[] }>
> = {
  hipaa: {
    title: 'HIPAA Security and Privacy Rules',
    requirements: list([
      [
        '164.312(a)',
        'Only users and programs with rights reach health information (tags personal.phi, personal.pii).',
      ],
      ['164.312(b)', 'Access to health information is recorded and can be examined.'],
      ['164.312(c)', 'Health information is not altered or destroyed without authority.'],
      ['164.312(d)', 'The identity of a user or program that requests health information is verified.'],
      ['164.312(e)', 'Health information is protected when it is transmitted.'],
      ['164.502(b)', 'Use and disclosure are limited to the minimum that is necessary.'],
    ]),
  },
  'pci-dss': {
    title: 'PCI DSS 4',
    requirements: list([
      ['3', 'Stored account data is protected; card numbers are masked when shown (tag personal.financial).'],
      ['4', 'Card data is protected with strong cryptography in transit; it is not sent in messages.'],
      ['7', 'Access to card data is restricted to business need.'],
      ['8', 'Users and programs are identified, and credentials are protected (tag secret.credential).'],
      ['10', 'Access to system components and card data is logged and monitored.'],
      ['12', 'Policies for information security are kept and reviewed.'],
    ]),
  },
  soc2: {
    title: 'SOC 2 Trust Services Criteria',
    requirements: list([
      [
        'CC6.1',
        'Logical access to protected information is restricted (tags secret.credential, secret.token).',
      ],
      ['CC6.2', 'Users and programs are registered and authorized before they get credentials.'],
      ['CC6.3', 'Access follows roles and least privilege.'],
      ['CC7.1', 'Changes of configuration and new weaknesses are detected.'],
      ['CC7.2', 'System components are monitored for anomalies.'],
      ['CC7.3', 'Security events are evaluated, and incidents are handled.'],
      ['CC8.1', 'Changes are authorized, tested and approved.'],
    ]),
  },
  gdpr: {
    title: 'General Data Protection Regulation',
    requirements: list([
      [
        'Art. 5(1)(f)',
        'Personal data is protected against unauthorized use and loss (tag personal and its descendants).',
      ],
      ['Art. 25', 'Data protection by design and by default: only necessary personal data is processed.'],
      ['Art. 30', 'Records of processing activities are kept.'],
      ['Art. 32', 'Security is appropriate to the risk, among others by pseudonymisation.'],
      ['Art. 33', 'Losses and leaks of personal data are detected and can be notified within 72 hours.'],
      ['Art. 35', 'Processing with a high risk is assessed beforehand.'],
    ]),
  },
};

function list(rows: readonly (readonly [id: string, text: string])[]): readonly FrameworkRequirement[] {
  return rows.map(([id, text]) => ({ id, text }));
}
