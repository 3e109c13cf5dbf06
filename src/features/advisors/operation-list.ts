/** The feature's operations. */
export {
  dashboardIntelligenceExplain,
  intelligenceAutoConfig,
  intelligenceCompliance,
  intelligenceExplain,
  intelligenceIntegrate,
  intelligenceRecommend,
  intelligenceStatus,
} from './operations.ts';
