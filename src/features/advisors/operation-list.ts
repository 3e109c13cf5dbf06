/** The operations of the feature. */
export {
  dashboardIntelligenceExplain,
  intelligenceAutoConfig,
  intelligenceCompliance,
  intelligenceExplain,
  intelligenceIntegrate,
  intelligenceRecommend,
  intelligenceStatus,
} from './operations.ts';
