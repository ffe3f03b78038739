import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CaptureFigures, createMetrics } from '../../src/platform/metrics.js';

const figure: CaptureFigures = {
  documentType: 'nfe',
  environment: 'production',
  phase: 'waiting',
  captures: 3,
  lag: 42,
};

/** The samples of one metric, as Prometheus reads them. */
async function samples(metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> {
  const text = await metrics.registry.metrics();
  return text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

describe('metrics', () => {
  test('counters carry service and outcome, type, result', async () => {
    const metrics = createMetrics();
    metrics.governmentCalls.inc({ service: 'nfe-distribution', outcome: 'documents' });
    metrics.documents.inc({ document_type: 'nfe' }, 50);
    metrics.webhookAttempts.inc({ result: 'delivered' });
    metrics.governmentCallSeconds.observe({ service: 'nfe-distribution' }, 0.2);
    assert.deepEqual(await samples(metrics, 'malote_government_calls_total'), [
      'malote_government_calls_total{service="nfe-distribution",outcome="documents"} 1',
    ]);
    assert.deepEqual(await samples(metrics, 'malote_documents_total'), [
      'malote_documents_total{document_type="nfe"} 50',
    ]);
    assert.deepEqual(await samples(metrics, 'malote_webhook_attempts_total'), [
      'malote_webhook_attempts_total{result="delivered"} 1',
    ]);
    assert.equal((await samples(metrics, 'malote_government_call_duration_seconds_count')).length, 1);
  });

  test('captures are read when scraped: one query for both gauges, and what vanished is gone', async () => {
    const metrics = createMetrics();
    let figures = [figure, { ...figure, phase: 'blocked', captures: 1, lag: 7 }];
    let queries = 0;
    metrics.observe({
      captures: async () => {
        queries++;
        return figures;
      },
    });
    assert.equal(queries, 0);
    const text = await metrics.registry.metrics();
    assert.equal(queries, 1);
    const labels = 'document_type="nfe",environment="production",phase="waiting"';
    assert.ok(text.includes(`malote_captures{${labels}} 3`));
    assert.ok(text.includes(`malote_capture_lag_documents{${labels}} 42`));
    figures = [figure];
    assert.equal((await samples(metrics, 'malote_captures')).length, 1);
  });

  test('open alerts by code and severity; what closed is gone', async () => {
    const metrics = createMetrics();
    let figures = [
      { code: 'capture_stalled', severity: 'warning', alerts: 3 },
      { code: 'certificate_expired', severity: 'critical', alerts: 1 },
    ];
    metrics.observe({ alerts: async () => figures });
    metrics.alertMails.inc({ result: 'sent' });
    assert.deepEqual(await samples(metrics, 'malote_open_alerts'), [
      'malote_open_alerts{code="capture_stalled",severity="warning"} 3',
      'malote_open_alerts{code="certificate_expired",severity="critical"} 1',
    ]);
    assert.deepEqual(await samples(metrics, 'malote_alert_mails_total'), ['malote_alert_mails_total{result="sent"} 1']);
    figures = figures.slice(1);
    assert.equal((await samples(metrics, 'malote_open_alerts')).length, 1);
  });

  test('what waits for somebody or something: numbers and manifestations', async () => {
    const metrics = createMetrics();
    const of = { documentType: 'nfe', environment: 'production' };
    metrics.observe({
      gaps: async () => [{ ...of, status: 'pending', numbers: 12 }],
      manifestations: async () => [{ ...of, state: 'overdue', manifestations: 2 }],
    });
    const labels = 'document_type="nfe",environment="production"';
    assert.deepEqual(await samples(metrics, 'malote_missing_documents'), [
      `malote_missing_documents{${labels},status="pending"} 12`,
    ]);
    assert.deepEqual(await samples(metrics, 'malote_pending_manifestations'), [
      `malote_pending_manifestations{${labels},state="overdue"} 2`,
    ]);
  });

  test('a database that does not answer costs its figures, not the scrape', async () => {
    const metrics = createMetrics();
    metrics.observe({
      pool: () => ({ total: 5, idle: 2, waiting: 1 }),
      captures: () => Promise.reject(new Error('down')),
      alerts: () => Promise.reject(new Error('down')),
    });
    assert.deepEqual(await samples(metrics, 'malote_captures'), []);
    assert.deepEqual(await samples(metrics, 'malote_open_alerts'), []);
    assert.deepEqual(await samples(metrics, 'malote_database_connections'), [
      'malote_database_connections{state="total"} 5',
      'malote_database_connections{state="idle"} 2',
      'malote_database_connections{state="waiting"} 1',
    ]);
  });
});
