import { z } from 'zod';
import { ALERT_GUIDE, type AlertGuide } from '../model/alert-guide.js';
import { ALERT_CODES, ALERT_SEVERITIES } from '../model/words.js';
import { type AlertRow, listAlerts } from '../storage/alerts.js';
import { type Api, answers } from './api.js';
import { callerOf } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import {
  answeredInstant,
  documentType,
  environment,
  flag,
  isoInstant,
  oneOf,
  openValue,
  uuid,
} from './schemas/common.js';

const alert = z
  .object({
    id: uuid,
    code: openValue(ALERT_CODES),
    companyId: uuid.nullable(),
    documentType: documentType.nullable(),
    environment: environment.nullable(),
    subject: z
      .string()
      .nullable()
      .describe(
        'What else it is about: an endpoint, the host; of steps (`certificate_expiring`, `numbering_at_risk`) the days',
      ),
    detail: z.string(),
    whatToDo: z
      .string()
      .nullable()
      .describe('In words, for whoever looks after it; null for a code of a later version'),
    severity: openValue(ALERT_SEVERITIES).describe('critical: documents may be missed until somebody acts'),
    openedAt: answeredInstant,
    closedAt: answeredInstant.nullable(),
  })
  .meta({ id: 'Alert' });

/** Operations alerts: `/v1/alerts`. */
export function alertRoutes(app: Api, { database }: ApiDependencies): void {
  app.get(
    '/v1/alerts',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listAlerts',
        tags: ['operations'],
        summary: 'Operations alerts, newest first',
        querystring: z.strictObject({
          ...pageQuery,
          open: flag.optional().describe('true: only open ones; false: only closed ones'),
          code: oneOf(ALERT_CODES).optional(),
          companyId: uuid.optional(),
          documentType: documentType.optional(),
        }),
        response: answers({ 200: pageOf(alert) }),
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const { visible } = callerOf(request);
      const page = await listAlerts(database, { ...filter, visible }, { limit, cursor: cursor ?? null });
      return { data: page.rows.map(alertView), nextCursor: page.nextCursor };
    },
  );
}

function alertView(row: AlertRow): z.output<typeof alert> {
  const guide: AlertGuide | undefined = ALERT_GUIDE[row.code];
  return {
    id: row.id,
    code: row.code,
    companyId: row.companyId,
    documentType: row.documentType,
    environment: row.environment,
    subject: row.subject === '' ? null : row.subject,
    detail: row.detail,
    whatToDo: guide?.whatToDo ?? null,
    severity: row.severity,
    openedAt: isoInstant(row.openedAt),
    closedAt: isoInstant(row.closedAt),
  };
}
