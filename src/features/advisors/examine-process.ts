/** The main module of the process that examines proposed documents. */
import { answerApart } from '../../platform/apart.ts';
import { examineProposal, type ProposalToExamine } from './examine-proposal.ts';

answerApart<ProposalToExamine>(examineProposal);
