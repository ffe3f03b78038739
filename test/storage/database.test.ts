import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import pg from 'pg';
import { createDatabase, type Database, instant, type Transaction } from '../../src/storage/database.js';
import {
  DatabaseError,
  isContentError,
  isTransientDatabaseError,
  isUniqueViolation,
} from '../../src/storage/database-error.js';
import { PostgresClock } from '../../src/storage/postgres-clock.js';
import { until } from '../support/until.js';
import { newCompany, openDatabase } from './support.js';

const { db, url } = await openDatabase();

/** Does something to the connections of one application name, from outside. */
async function fromOutside(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(text, values);
  } finally {
    await client.end();
  }
}

const terminate = (pid: number) => fromOutside('select pg_terminate_backend($1)', [pid]);
const pidOf = async (on: Database | Transaction) =>
  (await on.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;

describe('types', () => {
  test('big numbers are strings, instants milliseconds, dates text', async () => {
    const { rows } = await db.query(
      `select 9007199254740993::bigint as big, 12.50::numeric as amount, '2026-11-30'::date as day,
         '2026-11-30T12:00:00.123-03'::timestamptz as at, 'infinity'::timestamptz as never, null::timestamptz as none`,
    );
    assert.deepEqual(rows[0], {
      big: '9007199254740993',
      amount: '12.50',
      day: '2026-11-30',
      at: Date.UTC(2026, 10, 30, 15, 0, 0, 123),
      never: Number.POSITIVE_INFINITY,
      none: null,
    });
  });

  test('an instant goes in and comes out unchanged', async () => {
    for (const ms of [0, 1, Date.UTC(2026, 10, 30, 15, 0, 0, 999), Number.POSITIVE_INFINITY]) {
      const { rows } = await db.query<{ at: number }>('select $1::timestamptz as at', [instant(ms)]);
      assert.equal(rows[0]?.at, ms);
    }
  });

  test('the clock is that of PostgreSQL, in milliseconds', async () => {
    const ours = await new PostgresClock(db).now();
    assert.ok(Number.isInteger(ours));
    assert.ok(Math.abs(ours - Date.now()) < 60_000);
  });
});

describe('transactions', () => {
  test('commit keeps, an error rolls back and is thrown on, and the connection is used again', async () => {
    const single = createDatabase({ url, applicationName: 'single', max: 1 });
    try {
      const first = await pidOf(single);
      await assert.rejects(
        single.transaction(async (tx) => {
          await tx.query("insert into settings values ('rolled back', '1')");
          throw new Error('on purpose');
        }),
        /on purpose/,
      );
      await single.transaction((tx) => tx.query("insert into settings values ('kept', '1')"));
      const { rows } = await single.query("select name from settings where name in ('rolled back', 'kept')");
      assert.deepEqual(rows, [{ name: 'kept' }]);
      assert.equal(await pidOf(single), first, 'a clean connection is not thrown away');
      assert.deepEqual(single.stats(), { total: 1, idle: 1, waiting: 0 });
    } finally {
      await single.close();
    }
  });

  test('a statement that fails leaves no client inside a failed transaction (C95)', async () => {
    const single = createDatabase({ url, applicationName: 'single', max: 1 });
    try {
      for (let i = 0; i < 5; i += 1) {
        await assert.rejects(
          single.transaction((tx) => tx.query('select 1/0')),
          DatabaseError,
        );
      }
      assert.equal((await single.query('select 1')).rowCount, 1);
      assert.equal(single.stats().waiting, 0);
    } finally {
      await single.close();
    }
  });

  test('an error that the work swallowed is not reported as a commit', async () => {
    await assert.rejects(
      db.transaction(async (tx) => {
        await tx.query("insert into settings values ('half', '1')");
        await tx.query('select 1/0').catch(() => {});
      }),
      /rolled back/,
    );
    assert.equal((await db.query("select from settings where name = 'half'")).rowCount, 0);
  });

  test('a statement after the end is refused instead of running in the next transaction', async () => {
    let leaked: Transaction | undefined;
    await db.transaction(async (tx) => {
      leaked = tx;
    });
    await assert.rejects(leaked?.query('select 1') ?? Promise.resolve(), /not awaited/);
  });

  test('isolation is what was asked for', async () => {
    const { rows } = await db.transaction((tx) => tx.query('show transaction_isolation'), {
      isolation: 'repeatable read',
    });
    assert.deepEqual(rows, [{ transaction_isolation: 'repeatable read' }]);
  });
});

describe('lost connections', () => {
  test('an idle one that the server ends is reported and replaced (C94)', async () => {
    const told: Error[] = [];
    const single = createDatabase({ url, applicationName: 'idle', max: 1, onIdleError: (error) => told.push(error) });
    try {
      await terminate(await pidOf(single));
      await until(() => told.length > 0, 'the pool reports the lost connection');
      assert.ok(isTransientDatabaseError(told[0]));
      assert.equal((await single.query('select 1')).rowCount, 1);
    } finally {
      await single.close();
    }
  });

  test('one that the server ends inside a transaction fails it as transient and is replaced (C95)', async () => {
    const single = createDatabase({ url, applicationName: 'in transaction', max: 1 });
    try {
      const failure = await single
        .transaction(async (tx) => {
          await tx.query("insert into settings values ('lost', '1')");
          await terminate(await pidOf(tx));
          await tx.query('select 1');
        })
        .then(() => undefined)
        .catch((error: unknown) => error);
      assert.ok(isTransientDatabaseError(failure), String(failure));
      assert.equal((await single.query("select from settings where name = 'lost'")).rowCount, 0);
      assert.equal(single.stats().total, 1);
    } finally {
      await single.close();
    }
  });

  test('one that the server ends while the work computes, not asks, does not end the process', async () => {
    const single = createDatabase({ url, applicationName: 'computing', max: 1 });
    try {
      await assert.rejects(
        single.transaction(async (tx) => {
          const pid = await pidOf(tx);
          await terminate(pid);
          await until(
            async () => (await fromOutside('select from pg_stat_activity where pid = $1', [pid])).rowCount === 0,
            'the backend is gone',
          );
        }),
        isTransientDatabaseError,
      );
      assert.equal((await single.query('select 1')).rowCount, 1);
    } finally {
      await single.close();
    }
  });

  test('one that falls silent is given up after the time limit, never used again, and others take its place', async () => {
    const server = new URL(url);
    const silent = new Set<Socket>();
    // Between us and the server, where a network would be.
    const proxy = createServer((client) => {
      const upstream = connect(Number(server.port), server.hostname);
      client.on('data', (bytes) => silent.has(client) || upstream.write(bytes));
      upstream.on('data', (bytes) => silent.has(client) || client.write(bytes));
      for (const end of [client, upstream]) {
        end.on('error', () => {});
        end.on('close', () => {
          client.destroy();
          upstream.destroy();
        });
      }
      sockets.push(client);
    });
    const sockets: Socket[] = [];
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const throughProxy = new URL(url);
    throughProxy.hostname = '127.0.0.1';
    throughProxy.port = String((proxy.address() as AddressInfo).port);
    const single = createDatabase({
      url: throughProxy.href,
      applicationName: 'silent',
      max: 1,
      statementTimeoutMs: 2_000,
    });
    try {
      await assert.rejects(
        single.transaction(async (tx) => {
          await tx.query('select 1');
          for (const socket of sockets) silent.add(socket);
          await tx.query('select 1');
        }),
        isTransientDatabaseError,
      );
      assert.equal((await single.query('select 1')).rowCount, 1);
    } finally {
      await single.close();
      proxy.close();
    }
  });

  test('a server that is not there is transient; a wrong database is not', async () => {
    const nowhere = createDatabase({ url: 'postgres://malote@127.0.0.1:1/x', applicationName: 'nowhere' });
    await assert.rejects(nowhere.query('select 1'), isTransientDatabaseError);
    await assert.rejects(
      nowhere.transaction((tx) => tx.query('select 1')),
      isTransientDatabaseError,
    );
    await nowhere.close();
    const wrong = new URL(url);
    wrong.pathname = '/no_such_database';
    const missing = createDatabase({ url: wrong.href, applicationName: 'missing' });
    await assert.rejects(
      missing.query('select 1'),
      (error) => error instanceof DatabaseError && error.code === '3D000' && !isTransientDatabaseError(error),
    );
    await missing.close();
  });
});

describe('errors', () => {
  test('time limits, deadlocks and serialization failures are transient', async () => {
    const impatient = createDatabase({ url, applicationName: 'impatient', statementTimeoutMs: 50 });
    await assert.rejects(impatient.query('select pg_sleep(5)'), isTransientDatabaseError);
    await impatient.close();
    for (const code of ['40001', '40P01', '57P01', '53300', '08006', '25006', 'EPIPE', 'ECONNRESET']) {
      assert.ok(isTransientDatabaseError(new DatabaseError('x', code)), code);
    }
    for (const code of ['23505', '22P02', '42P01', '28P01', null]) {
      assert.ok(!isTransientDatabaseError(new DatabaseError('x', code)), String(code));
    }
    assert.ok(!isTransientDatabaseError(new Error('Connection terminated')));
  });

  test('content that breaks a statement is told apart, and none of it is in the message', async () => {
    const company = await newCompany(db, { taxId: '12ABC34501DE35' });
    const statements: [string, unknown[]][] = [
      ['select $1::uuid', ['12ABC34501DE35']],
      ['select $1::timestamptz', ['12ABC34501DE35 "quoted"']],
      [
        'insert into companies (id, tax_id, root, name, uf) values ($1, $2, $2, $2, $3)',
        [randomUUID(), company.taxId, 'SP'],
      ],
      [
        'insert into companies (id, tax_id, root, name, uf) values ($1, $2, $2, $2, $3)',
        [randomUUID(), '12ABC34501DE35x', 'SP'],
      ],
      ['select $1::jsonb', ['{"12ABC34501DE35']],
    ];
    for (const [text, values] of statements) {
      const error: unknown = await db.query(text, values).catch((caught: unknown) => caught);
      assert.ok(isContentError(error), String(error));
      assert.ok(error instanceof Error);
      assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /ABC345/);
    }
  });

  test('a unique violation names its constraint', async () => {
    const { id } = await newCompany(db);
    const error: unknown = await db
      .query("insert into companies (id, tax_id, root, name, uf) values ($1, '99999999000199', '', '', 'SP')", [id])
      .catch((caught: unknown) => caught);
    assert.ok(isUniqueViolation(error) && isUniqueViolation(error, 'companies_pkey'));
    assert.ok(!isUniqueViolation(error, 'companies_tax_id_key'));
  });
});
