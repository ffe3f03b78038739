-- Up Migration
-- Documents that came at or below the NSU that a host has taken already (recovered, decoded again): handed to it besides.
create table late_documents (
  document_id    uuid primary key references documents (id) on delete cascade,
  company_id     uuid not null,
  document_type  text not null,
  environment    text not null,
  nsu            bigint not null
);
create index late_documents_capture on late_documents (company_id, document_type, environment, nsu);

-- Companies whose deletion was asked for. The row outlives the company: it says that nothing of it is left.
create table erasures (
  company_id     uuid primary key,
  status         text not null,                  -- waiting (grace), erasing, done
  requested_at   timestamptz(3) not null,
  due_at         timestamptz(3) not null,        -- end of the grace
  started_at     timestamptz(3),
  finished_at    timestamptz(3),
  updated_at     timestamptz(3) not null,
  rows_deleted   bigint not null default 0,
  objects_deleted bigint not null default 0
);
create index erasures_open on erasures (due_at) where status <> 'done';

-- What the government still remembers of a tax ID that was erased: it goes on where it stopped if it ever comes back. By a keyed hash,
-- because the tax ID itself is gone.
create table erased_captures (
  tax_id_mac     text not null,
  document_type  text not null,
  environment    text not null,
  state          jsonb not null,
  not_before     timestamptz(3),
  last_query_at  timestamptz(3) not null,
  searched_at    timestamptz(3),
  erased_at      timestamptz(3) not null,
  primary key (tax_id_mac, document_type, environment)
);

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.
