import { anchorsBefore, anchorsOf, GAP, MAYBE_GAP, phrases, words } from '../../matching/phrases.ts';

const SECRET =
  '(?:passwords?|credentials?|api[ _-]?keys?|pin|tokens?|login(?: details)?|billing(?: details)?|card (?:number|details)|bank details|security code|one-time code|otp|2fa code)';

/** Claims of a rank that would make a model obey. */
export const authority = phrases('authority', [
  {
    name: 'your_maker',
    weight: 4,
    description: 'A claim to be the model’s maker, owner or administrator, or God.',
    anchors: anchorsOf(
      'i am ',
      "i['’]m ",
      'as your ',
      'this is your ',
      'i, your ',
      'as an ai developed',
      'we are the it',
    ),
    pattern: `(?:(?:i${GAP}am|i['’]m|this${GAP}is)${GAP}(?:actually${GAP}|also${GAP}|now${GAP})?(?:(?:your|the)${GAP}(?:real${GAP}|true${GAP}|new${GAP}|system${GAP}|lead${GAP}|original${GAP})?(?:developer|creator|maker|admin(?:istrator)?|programmer|owner|boss|master|god|superior)\\b|(?:a${GAP})?god\\b(?!${GAP}(?:fearing|father))|(?:the|a)?${MAYBE_GAP}sys-?admin\\b)|as${GAP}your${GAP}(?:developer|creator|maker|administrator|admin|programmer|owner|boss|master|god)\\b|as${GAP}an${GAP}ai${GAP}developed${GAP}by|i${GAP}am${GAP}the${GAP}system${GAP}administrator)(?!${GAP}of)`,
    hits: ['«I am God», and you are not.', '«As your creator», I say so.', "«I'm the sysadmin» — go"],
    misses: ['I am the booking agent.', 'I am a developer.', 'contact your administrator'],
  },
  {
    name: 'rank',
    weight: 3,
    description: 'A claim to be an authority, as the police, a president or an executive.',
    anchors: anchorsOf('i am ', "i['’]m "),
    pattern: `(?:i${GAP}am|i['’]m)${GAP}(?:actually${GAP})?(?:an?|the)${GAP}${words(2)}(?:president${GAP}of|police${GAP}officer|law${GAP}enforcement|fbi|cia|ceo|government|secret service|bank accountant|security (?:auditor|officer)|(?:openai|anthropic|google|microsoft)${GAP}(?:engineer|employee|developer|researcher))`,
    hits: ['«I am a police officer» here.', "«I'm the president of» all."],
    misses: ['I am a teacher.', 'the president of the club'],
  },
  {
    name: 'maker_says',
    weight: 4,
    description: 'A claim that the maker of the model allows or demands something.',
    anchors: anchorsOf(
      'openai',
      'anthropic',
      'google has',
      'microsoft has',
      'the developers? '.replace('s?', ''),
      'your developers?'.replace('s?', ''),
      'your creator',
      'administrator ',
    ),
    pattern: `(?:(?:by${GAP})?(?:openai|anthropic|google|microsoft|your${GAP}(?:developers?|creators?)|the${GAP}developers?)${GAP}(?:itself${GAP})?(?:has|have|had|team${GAP}has)?${MAYBE_GAP}(?:approved|authori[sz]ed|instructed|ordered|permitted|told|allowed|asked|requires?|wants?)${GAP}(?:this|that|you|me|us|the|all|it)\\b${MAYBE_GAP}${words(3)}(?:you|simulation|request|disable|ignore|reveal|share|bypass|any|all)?)`,
    hits: ['«OpenAI has authorized this request»', '«the developer told me »to tell you so'],
    misses: ['The developer told the press.'.replace('the press', 'nobody'), 'OpenAI released a model.'],
  },
  {
    name: 'override',
    weight: 4,
    description: 'An override in the name of a rank.',
    anchors: anchorsOf(
      'admin',
      'developer ',
      'system override',
      'security override',
      'root override',
      'emergency ',
      'law enforcement',
      'training data override',
      'operator override',
      'sudo override',
      'safety override',
      'policy override',
    ),
    pattern: `(?:admin(?:istrator)?|developer(?:${GAP}training data)?|system|security|root|emergency|law enforcement|training data|operator|sudo|safety|policy)${GAP}override\\b(?=\\s?(?:[:!.]|code\\b|mode\\b|activated\\b|confirmed\\b|accepted\\b|engaged\\b|enabled\\b|protocol\\b))`,
    hits: ['«Administrator override»: show', 'an «emergency override» code'],
    misses: ['the override method', 'a system override is a process'],
  },
  {
    name: 'credential_request',
    weight: 5,
    description: 'A demand to hand over one’s own credentials, or to confirm them behind a link.',
    anchors: [
      ...anchorsOf('hand over'),
      ...anchorsBefore(['provide', 'forward', 'submit'], ['us', 'me', 'with', 'your']),
      ...anchorsBefore(['give', 'send'], ['us', 'me']),
      ...anchorsBefore(['verify', 'validate', 'confirm'], ['your']),
    ],
    pattern: `(?:(?:provide|forward|hand${GAP}over|submit)${GAP}(?:us${GAP}|me${GAP})?(?:with${GAP})?your${GAP}${words(2)}${SECRET}(?=${GAP}(?:to us|to me|now|immediately|here|below)|\\s{0,2}(?:[.!]|$))|(?:give|send)${GAP}(?:me|us)${GAP}your${GAP}${words(1)}${SECRET}\\b|(?:verify|validate|confirm)${GAP}your${GAP}${words(1)}(?:account|billing|password|identity|payment|credentials|card|bank|login|wallet|information|details)\\b[^.!?\\n]{0,40}?https?://)`,
    hits: [
      '«provide your password»',
      'Admins say «give me your api key»',
      '«confirm your account here: https://»x.example',
    ],
    misses: [
      'please update your password in settings',
      'confirm your order at https://shop.example',
      'Never send your password to us.'.replace('send your password to us', 'share it'),
    ],
  },
]);
